import { pino, type DestinationStream, type Logger } from 'pino'
import { createBufferedStdout } from './buffered-stdout.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'flush' | 'level'> & {
  /**
   * One line per request, at level info. It holds only what we made or chose ourselves: ids, patterns, numbers, codes.
   * So it need not pass the gate below, and costs a fraction of any other line.
   */
  access(fields: Readonly<Record<string, string | number | undefined>>): void
}

export type LogOptions = {
  readonly level: string
  /** Texts that must never be written, whatever carries them: upstream keys, the server's own secret. */
  readonly secrets?: () => readonly string[]
  readonly destination?: DestinationStream
}

export function createLog({ level, secrets = () => [], destination }: LogOptions): Log {
  const scrub = createScrub(secrets)
  const stream = destination ?? createBufferedStdout()
  const log = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${isoTime()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: scrub },
    },
    stream,
  )
  const isOn = log.isLevelEnabled('info')
  const access = (fields: object): void => {
    if (isOn)
      stream.write(
        `{"level":"info","time":"${isoTime()}",${JSON.stringify(fields).slice(1, -1)},"message":"request"}\n`,
      )
  }
  return Object.assign(log, { access })
}

let lastMs = 0
let lastText = ''

/** The wall clock as text, spelled once per millisecond. */
function isoTime(): string {
  const nowMs = Date.now()
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastText = new Date(nowMs).toISOString()
  }
  return lastText
}

/** Our keys, vendors' keys, bearer tokens, and passwords inside addresses. */
const secretForms =
  /\b(ak|adm)_[0-9A-Za-z]{38}\b|\bsk-[A-Za-z0-9_-]{12,}|\b(Bearer|Basic|Splunk)\s+[A-Za-z0-9._~+/=-]{8,}|:\/\/[^/\s:@"]+:[^/\s@"]+@|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g

/** The last gate before a line is written: whatever looks like a secret, or is one of ours, becomes `[secret]`. */
function createScrub(secrets: () => readonly string[]): (line: string) => string {
  return (line) =>
    secrets()
      .filter((secret) => secret.length >= 8)
      .reduce((text, secret) => text.replaceAll(secret, '[secret]'), line.replace(secretForms, '[secret]'))
}
