import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

const tlsFile = (name: string): string => new URL(`../fixtures/tls/${name}`, import.meta.url).pathname

/** The certificate authority of the mail server, for `mail.ca_file`. */
export const mailAuthorityFile = tlsFile('gateway.cert.pem')

export type ReceivedMail = {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
  readonly isEncrypted: boolean
  readonly user: string | undefined
}

export type MailServer = AsyncDisposable & {
  readonly url: (credentials?: string) => string
  readonly mails: readonly ReceivedMail[]
  /** Resolves when this many mails have arrived. */
  received(count: number): Promise<readonly ReceivedMail[]>
}

/** A real SMTP server on loopback that stores what it receives. It offers STARTTLS and accepts the user `ada` with `pa ss`. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const arrived = new EventTarget()
  const server = new SMTPServer({
    authOptional: true,
    key: readFileSync(tlsFile('gateway.key.pem')),
    cert: readFileSync(tlsFile('gateway.cert.pem')),
    onAuth({ username, password }, _session, callback) {
      if (username === 'ada' && password === 'pa ss') callback(null, { user: username })
      else callback(new Error('wrong password'))
    },
    onData(stream, { envelope, secure, user }, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
          isEncrypted: secure,
          user: typeof user === 'string' ? user : undefined,
        })
        callback()
        arrived.dispatchEvent(new Event('mail'))
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: (credentials = '') => `smtp://${credentials}127.0.0.1:${port}`,
    mails,
    async received(count) {
      while (mails.length < count)
        await new Promise<void>((resolve) => arrived.addEventListener('mail', () => resolve(), { once: true }))
      return mails
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
