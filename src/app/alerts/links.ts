import type { AlertLink } from '../../domain/alerts/alert.ts'
import type { Config } from '../../config/config.ts'
import { consoleUrl } from '../console-url.ts'

/** The address of the page of the console that shows what an alert is about; null if the console is off. */
export function alertUrl(
  { server, console: { enabled } }: Pick<Config, 'server' | 'console'>,
  link: AlertLink,
): string | null {
  if (!enabled) return null
  const { page, id, search = {} } = link
  const path = id === undefined ? page : `${page}/${encodeURIComponent(id)}`
  const query = new URLSearchParams(Object.entries(search).map(([name, value]) => [name, String(value)]))
  return `${consoleUrl(server)}${path}${query.size === 0 ? '' : `?${query.toString()}`}`
}
