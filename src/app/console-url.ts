import type { Config } from '../config/config.ts'
import { planListeners } from './listen-addresses.ts'

/**
 * The address of the console for a browser. `listening`: the address of the administration port, once it is open. Without a
 * public URL a server that listens on all addresses is named by the loopback one, which works on the machine itself.
 */
export function consoleUrl(server: Config['server'], listening?: string): string {
  const planned = planListeners(server).find(({ purposes }) => purposes.has('administration'))
  const isPublic = planned?.purposes.has('api') === true
  const protocol = server.tls === undefined ? 'http' : 'https'
  const address = listening || `${protocol}://${planned?.host ?? server.host}:${planned?.port ?? server.port}`
  const url = (isPublic && server.public_url) || address.replace(allAddresses, '//127.0.0.1')
  return `${url.replace(/\/+$/, '')}/console/`
}

const allAddresses = /\/\/(?:0\.0\.0\.0|\[?::\]?)(?=:\d+$|$)/
