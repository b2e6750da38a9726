import type { Config } from '../config/config.ts'
import { planListeners } from './listen-addresses.ts'

/**
 * The address of the console for a browser. `listening`: the address of the administration port, once it is open. Without a
 * public URL a server that listens on all addresses is named by the loopback one, which works on the machine itself.
 */
export function consoleUrl(server: Config['server'], listening?: string): string {
  const planned = administrationOf(server)
  const protocol = server.tls === undefined ? 'http' : 'https'
  const address = listening || `${protocol}://${planned?.host ?? server.host}:${planned?.port ?? server.port}`
  return publicConsoleUrl(server) ?? below(address.replace(allAddresses, '//127.0.0.1'))
}

/** The address of the console below the public URL. Undefined if none is configured, or if the console is on another port. */
export function publicConsoleUrl(server: Config['server']): string | undefined {
  const isPublic = administrationOf(server)?.purposes.has('api') === true
  return isPublic && server.public_url !== undefined ? below(server.public_url) : undefined
}

const administrationOf = (server: Config['server']) =>
  planListeners(server).find(({ purposes }) => purposes.has('administration'))

const below = (url: string): string => `${url.replace(/\/+$/, '')}/console/`

const allAddresses = /\/\/(?:0\.0\.0\.0|\[?::\]?)(?=:\d+$|$)/
