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
app = await startApp(Number(process.env.PORT ?? 3000));
console.log(`through the gateway   ${app.url}`);
console.log(`without it            ${app.url}?agent=unguarded`);
