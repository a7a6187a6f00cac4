// `npm start`: the example until Ctrl+C.
import { startApp } from "./app.mjs";

let app;
// In place before anything starts: the gateway is a process of its own and must not stay behind.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await app?.close();
    process.exit(0);
  });
}
const port = process.env.PORT ?? "3000";
try {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new TypeError(`PORT must be a number from 0 to 65535, not ${JSON.stringify(port)}`);
  }
  app = await startApp(Number(port));
  console.log(`gateway behind the runtime   ${app.url}`);
  console.log(`gateway in front of it       ${app.url}?position=front`);
  console.log(`without a gateway            ${app.url}?position=none`);
} catch (error) {
  const isTaken = error.code === "EADDRINUSE";
  console.error(isTaken ? `port ${port} is taken; choose another with PORT` : error.message);
  process.exit(1);
}
