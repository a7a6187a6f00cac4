import react from "@vitejs/plugin-react";

/** How Vite builds this page. */
export const page = {
  root: import.meta.dirname,
  configFile: false,
  logLevel: "warn",
  plugins: [react()],
};
