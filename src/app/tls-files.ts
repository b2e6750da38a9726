import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { messageOf } from '../base/fault.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'

export type TlsSettings = NonNullable<Config['server']['tls']>

type TlsReloadParts = {
  readonly log: Log
  /** Sets the certificate of new connections. */
  readonly apply: (options: SecureContextOptions) => void
}

/** Reads the certificate and its key at the start. An error names the setting and the file. */
export function readTlsFiles(settings: TlsSettings): SecureContextOptions {
  const read = (setting: 'cert_file' | 'key_file'): Buffer => {
    try {
      return readFileSync(settings[setting])
    } catch (error) {
      throw new Error(`server.tls.${setting}: ${settings[setting]} cannot be read: ${messageOf(error)}`, {
        cause: error,
      })
    }
  }
  return validated(settings, read('cert_file'), read('key_file'))
}

/**
 * Returns a function that applies a renewed certificate. The files are read instead of watched, because a watch does not report
 * a file that is swapped behind a symbolic link. While certificate and key do not match, the previous certificate is kept.
 */
export function createTlsReload(
  settings: TlsSettings,
  used: SecureContextOptions,
  { log, apply }: TlsReloadParts,
): () => Promise<void> {
  let applied = textOf(used)
  let problem: string | undefined
  return async () => {
    try {
      const [cert, key] = await Promise.all([readFile(settings.cert_file), readFile(settings.key_file)])
      const now = textOf({ cert, key })
      if (now === applied && problem === undefined) return
      apply(validated(settings, cert, key))
      if (now !== applied) log.info({ cert_file: settings.cert_file }, 'a new TLS certificate is in use')
      applied = now
      problem = undefined
    } catch (error) {
      // Log it once, not every few seconds.
      if (problem !== messageOf(error)) {
        log.warn({ error: messageOf(error) }, 'the new TLS certificate cannot be used; the previous one is kept')
      }
      problem = messageOf(error)
    }
  }
}

const textOf = ({ cert, key }: SecureContextOptions): string => `${String(cert)}\n${String(key)}`

function validated(settings: TlsSettings, cert: Buffer, key: Buffer): SecureContextOptions {
  const options = { cert, key, minVersion: settings.min_version }
  try {
    createSecureContext(options)
    return options
  } catch (error) {
    const { cert_file: certFile, key_file: keyFile } = settings
    const files = `server.tls: ${certFile} and ${keyFile}`
    throw new Error(`${files} are not a certificate and its key: ${messageOf(error)}`, { cause: error })
  }
}
