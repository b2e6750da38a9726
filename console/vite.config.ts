import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The menus of the top bar and what only they need: a fourth of the code of a page, loaded after it. */
const menuCode =
  /node_modules\/@(?:base-ui|floating-ui)\/|\/src\/kit\/(?:menu|popover|export-menu|calendar|range-words)|\/src\/shell\/(?:menus|top-menus|attention-bell|range-|command-search|commands|found-names)/

/** React is named, because the menus need it as well and would take it along. */
const sharedCode =
  /rolldown.runtime|node_modules\/(?:react|react-dom|scheduler|use-sync-external-store)\/|\/src\/(?:api|kit|session|shell|style|words)\/|\/search\.ts$/

/** Pages with several routes. A page with one route is one file without a group. */
const pagesWithRoutes = /\/src\/pages\/(policies)\/(?!editor\/)/

/**
 * A page is one file of code beside those that all pages share, and all styles are one file, so that a first visit needs few requests.
 * Readers of addresses belong to the router.
 */
const groups = [
  { name: 'base', test: (id: string) => sharedCode.test(id) && !menuCode.test(id), priority: 3 },
  { name: 'menus', test: menuCode, priority: 2 },
  { name: 'policies', test: pagesWithRoutes, priority: 1 },
]

/** Addresses are relative, so that the console works below any path prefix; the server writes `<base href>`. */
export default defineConfig({
  base: './',
  plugins: [react()],
  build: {
    manifest: 'manifest.json',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: { proxy: Object.fromEntries(['/v1', '/api', '/console/api'].map((path) => [path, gatewayUrl()])) },
})

function gatewayUrl(): string {
  return process.env['GATEHOUSE_URL'] ?? 'http://127.0.0.1:8080'
}
