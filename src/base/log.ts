import { pino, type DestinationStream, type Logger } from 'pino'
import { createBufferedStdout } from './buffered-stdout.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'flush' | 'level'> & {
  /**
   * One line per request, at level info. All its values are made by the gateway: ids, route patterns, numbers, codes. It
   * therefore skips the redaction of secrets, and costs a fraction of any other line.
   */
  access(fields: Readonly<Record<string, string | number | undefined>>): void
}

export type LogOptions = {
  readonly level: string
  /** Texts that must never be logged: upstream keys, the server secret. */
  readonly secrets?: () => readonly string[]
  readonly destination?: DestinationStream
  /** The number of the process that writes the log, if several write one. */
  readonly worker?: number | undefined
}

export function createLog({ level, secrets = () => [], destination, worker }: LogOptions): Log {
  const scrub = createScrub(secrets)
  const stream = destination ?? createBufferedStdout()
  const log = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      messageKey: 'message',
      timestamp: () => `,"time":"${isoTime()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: scrub },
    },
    stream,
  )
  const own = worker === undefined ? '' : `"worker":${worker},`
  const isOn = log.isLevelEnabled('info')
  const access = (fields: object): void => {
    if (isOn)
      stream.write(
        `{"level":"info","time":"${isoTime()}",${own}${JSON.stringify(fields).slice(1, -1)},"message":"request"}\n`,
      )
  }
  return Object.assign(log, { access })
}

let lastMs = 0
let lastText = ''

/** The current time as ISO 8601, formatted at most once per millisecond. */
function isoTime(): string {
  const nowMs = Date.now()
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastText = new Date(nowMs).toISOString()
  }
  return lastText
}

/** Keys of the gateway and of vendors, bearer tokens, JWTs, and passwords in URLs. */
const secretForms =
  /\b(ak|adm)_[0-9A-Za-z]{38}\b|\bsk-[A-Za-z0-9_-]{12,}|\b(Bearer|Basic|Splunk)\s+[A-Za-z0-9._~+/=-]{8,}|:\/\/[^/\s:@"]+:[^/\s@"]+@|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g

/** Runs before a line is written: replaces known secrets, and everything that looks like a secret, by `[secret]`. */
function createScrub(secrets: () => readonly string[]): (line: string) => string {
  return (line) =>
    secrets()
      .filter((secret) => secret.length >= 8)
      .reduce((text, secret) => text.replaceAll(secret, '[secret]'), line.replace(secretForms, '[secret]'))
}
