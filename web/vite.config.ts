import { defineConfig } from "vite";

// Everything is a file of its own: the pages are served with a policy that allows no inline script
// and no inline style, and nothing from elsewhere.
export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: true,
  },
});
