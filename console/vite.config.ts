import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Addresses are relative, so that the console works below any path prefix; the server writes `<base href>`. */
export default defineConfig({
  base: './',
  plugins: [react()],
  build: { manifest: 'manifest.json', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: Object.fromEntries(['/v1', '/api', '/console/api'].map((path) => [path, gatewayUrl()])) },
})

function gatewayUrl(): string {
  return process.env['GATEHOUSE_URL'] ?? 'http://127.0.0.1:8080'
}
