import { pino, type DestinationStream, type Logger } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'flush' | 'level'>

export type LogOptions = {
  readonly level: string
  /** Texts that must never be written, whatever carries them: upstream keys, the server's own secret. */
  readonly secrets?: readonly string[]
  readonly destination?: DestinationStream
}

/** Lines leave in batches: at thousands of requests a second the write is dearer than the line. */
export function createLog({ level, secrets = [], destination }: LogOptions): Log {
  const scrub = createScrub(secrets)
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: scrub },
    },
    destination ?? pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 250 }),
  )
}

/** Our keys, vendors' keys, bearer tokens, and passwords inside addresses. */
const secretForms =
  /\b(ak|adm)_[0-9A-Za-z]{38}\b|\bsk-[A-Za-z0-9_-]{12,}|\b(Bearer|Basic|Splunk)\s+[A-Za-z0-9._~+/=-]{8,}|:\/\/[^/\s:@"]+:[^/\s@"]+@|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g

/** The last gate before a line is written: whatever looks like a secret, or is one of ours, becomes `[secret]`. */
function createScrub(secrets: readonly string[]): (line: string) => string {
  const known = secrets.filter((secret) => secret.length >= 8)
  return (line) =>
    known.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line.replace(secretForms, '[secret]'))
}
