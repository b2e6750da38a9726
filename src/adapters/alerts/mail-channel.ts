import { Value } from 'typebox/value'
import type { Clock } from '../../base/clock.ts'
import type { SendMessage, SendResult } from '../../domain/alerts/channel.ts'
import { EmailChannelConfig } from './channel-kinds.ts'
import { headlineOf, mailText } from './render.ts'

export type MailSettings = {
  /** Read for each message, because its password may be reloaded from a file. */
  readonly smtpUrl: () => string
  readonly from: string
  readonly starttls: 'required' | 'if_offered' | 'never'
  /** Certificate authority of the mail server, in PEM. */
  readonly caPem?: string | undefined
  readonly timeoutMs: number
  readonly clock: Clock
}

const maxSubjectLength = 200
const maxAnswerLength = 200

/**
 * Sends a message by SMTP. Each message has a connection of its own: alerts are rare, and a connection that broke unnoticed would
 * delay one of them.
 */
export const createMailSender =
  (settings: MailSettings) =>
  (config: unknown): SendMessage => {
    if (!Value.Check(EmailChannelConfig, config)) throw new TypeError('This is not a valid email channel.')
    return async (message, signal) => {
      // Loaded with the first mail, because most installations send none.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport(transportOptions(settings))
      const domain = settings.from.slice(settings.from.lastIndexOf('@') + 1).replace(/>.*$/, '')
      const sending = transport.sendMail({
        from: settings.from,
        to: [...config.to],
        subject: `[Gatehouse] ${headlineOf(message)}`.slice(0, maxSubjectLength),
        text: mailText(message),
        messageId: `<${message.messageId}@${domain}>`,
        // Mail programs show the begin and the end of an alert together.
        references: `<${message.id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Gatehouse-Alert': message.id },
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      const result = sending.then(({ response }): SendResult => ({ kind: 'sent', answer: answerOf(response) }), failed)
      return Promise.race([result, deadline(settings), aborted(signal)]).finally(() => transport.close())
    }
  }

/** The options of a connection: `smtps` is TLS from the start, `smtp` is upgraded by STARTTLS. */
function transportOptions({ smtpUrl, starttls, caPem, timeoutMs }: MailSettings) {
  const url = new URL(smtpUrl())
  const isSecure = url.protocol === 'smtps:'
  const user = decodeURIComponent(url.username)
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    requireTLS: !isSecure && starttls === 'required',
    ignoreTLS: starttls === 'never',
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
    ...(caPem !== undefined && { tls: { ca: caPem } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
  }
}

/** The mail server is the operator's, so its answer is shown: it says which address it does not know. */
const answerOf = (response: string): string => `The mail server answered: ${oneLine(response)}`

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, maxAnswerLength)

function failed(cause: unknown): SendResult {
  const response: unknown = cause instanceof Error ? Reflect.get(cause, 'response') : undefined
  if (typeof response === 'string' && response !== '') return { kind: 'failed', answer: answerOf(response), cause }
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined
  const isTls = code === 'ETLS' || code === 'ESOCKET'
  const answer = isTls
    ? 'The mail server could not be reached, or its TLS was not accepted.'
    : 'The mail server could not be reached.'
  return { kind: 'failed', answer, cause }
}

/** Bounds the whole message. The other timeouts bound one step each, so a server that answers slowly could take for ever. */
const deadline = ({ clock, timeoutMs }: MailSettings): Promise<SendResult> =>
  new Promise((resolve) => {
    clock.after(3 * timeoutMs, () => resolve({ kind: 'failed', answer: 'The mail server took too long.' }))
  })

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
