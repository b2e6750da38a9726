import type { RemoteServer } from '../app/client/remote-server.ts'
import { readRegularFile } from '../base/regular-file.ts'
import type { Environment } from '../config/config.ts'
import { UsageError } from './command.ts'

/** The options that name a server on the network, and the variables that they stand for. */
export const remoteSettings = { '--url': 'GATEHOUSE_URL', '--admin-key-file': 'GATEHOUSE_ADMIN_KEY_FILE' } as const

/** The key is not an option, because other users of a machine can read the arguments of a process. */
const keyVariable = 'GATEHOUSE_ADMIN_KEY'

/** The server on the network that the command is for; undefined for the one of the data folder. */
export function remoteServerOf(env: Environment): RemoteServer | undefined {
  const text = env[remoteSettings['--url']]
  return text === undefined || text === '' ? undefined : { url: readUrl(text), adminKey: readKey(env) }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(`--url must be an address that begins with http:// or https://, and is ${text}.`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError('--url must be an address without a user name, a password, a query or a fragment.')
  return url
}

function readKey(env: Environment): string {
  const file = env[remoteSettings['--admin-key-file']]
  const key = (file === undefined || file === '' ? env[keyVariable] : readRegularFile(file))?.trim()
  if (key === undefined || key === '')
    throw new UsageError(
      `--url needs an administrator key: set ${keyVariable}, or name a file that contains it with --admin-key-file.`,
    )
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new UsageError(
    'The administrator key has characters that no key has. The file must contain the key and nothing else.',
  )
}

/** A warning for an address to which the key travels unencrypted; undefined if there is none. */
export function plainHttpWarning({ url }: RemoteServer): string | undefined {
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return undefined
  return `The administrator key is sent to ${url.host} unencrypted: use https.`
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.')
