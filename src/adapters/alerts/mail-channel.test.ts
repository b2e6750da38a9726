import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { alertMessage } from '../../../test/support/alert-message.ts'
import { mailAuthorityFile, startMailServer } from '../../../test/support/mail-server.ts'
import { systemClock } from '../../base/clock.ts'
import { createMailSender, type MailSettings } from './mail-channel.ts'

const settingsOf = (url: string, settings: Partial<MailSettings> = {}): MailSettings => ({
  smtpUrl: () => url,
  from: 'Gatehouse <alerts@example.com>',
  starttls: 'required',
  caPem: readFileSync(mailAuthorityFile, 'utf8'),
  timeoutMs: 5_000,
  clock: systemClock,
  ...settings,
})

const send = (url: string, settings: Partial<MailSettings> = {}, message = alertMessage()) =>
  createMailSender(settingsOf(url, settings))({ to: ['oncall@example.com', 'ops@example.com'] })(
    message,
    new AbortController().signal,
  )

describe('an email channel', () => {
  it('sends a mail by STARTTLS with a password, and says what the server answered', async () => {
    await using server = await startMailServer()
    const result = await send(server.url('ada:pa%20ss@'))
    assert.equal(result.kind, 'sent', result.answer)
    assert.match(result.answer, /^The mail server answered: 250 /)
    const [mail] = server.mails
    assert.ok(mail)
    const { text, ...envelope } = mail
    assert.deepEqual(envelope, {
      from: 'alerts@example.com',
      to: ['oncall@example.com', 'ops@example.com'],
      isEncrypted: true,
      user: 'ada',
    })
    assert.match(text, /^Subject: \[Gatehouse\] Denials are over 20 %\r$/m)
    assert.match(text, /^Message-ID: <msg_1@example\.com>\r$/m)
    assert.match(text, /^Auto-Submitted: auto-generated\r$/m)
    for (const part of ['(30 %)', 'It began at 2026-01-01 10:00', 'Organization: Example Inc.', '/console/requests'])
      assert.ok(text.replaceAll('=\r\n', '').includes(part), part)
  })

  it('says when an alert is over', async () => {
    await using server = await startMailServer()
    const message = alertMessage({ event: 'resolved', messageId: 'msg_2', endedAtMs: Date.UTC(2026, 0, 1, 10, 30) })
    await send(server.url(), {}, message)
    const text = server.mails[0]?.text.replaceAll('=\r\n', '') ?? ''
    assert.match(text, /Resolved: Denials[\s\S]*When it began: 60[\s\S]*from 2026-01-01 10:00 to 2026-01-01 10:30/)
  })

  it('names the answer of a server that rejects the address', async () => {
    await using server = await startMailServer({
      onRcptTo: (_address, _session, callback) =>
        callback(Object.assign(new Error('No such user'), { responseCode: 550 })),
    })
    const result = await send(server.url())
    assert.equal(result.kind, 'failed')
    assert.match(result.answer, /550 No such user/)
    assert.deepEqual(server.mails, [])
  })

  it('names the answer of a server that rejects the password', async () => {
    await using server = await startMailServer()
    const result = await send(server.url('ada:wrong@'))
    assert.match(result.answer, /^The mail server answered: 535 /)
    assert.doesNotMatch(result.answer, /pa ss/)
  })

  it('sends nothing to a server without STARTTLS, unless that is not required', async () => {
    await using server = await startMailServer({ disabledCommands: ['STARTTLS'] })
    assert.equal((await send(server.url())).kind, 'failed')
    assert.equal(server.mails.length, 0)
    assert.equal((await send(server.url(), { starttls: 'if_offered' })).kind, 'sent')
    assert.deepEqual(
      server.mails.map(({ isEncrypted }) => isEncrypted),
      [false],
    )
  })

  it('sends nothing to a server with a certificate of an unknown authority', async () => {
    await using server = await startMailServer()
    assert.equal((await send(server.url(), { caPem: undefined })).kind, 'failed')
    assert.deepEqual(server.mails, [])
  })

  it('fails if nobody listens, and if a server never greets', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    assert.deepEqual(
      (await send(`smtp://127.0.0.1:${port}`, { timeoutMs: 100 })).answer,
      'The mail server could not be reached.',
    )
    silent.close()
    assert.equal((await send('smtp://127.0.0.1:1')).kind, 'failed')
  })

  it('stops waiting when the service stops', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const stop = new AbortController()
    const sending = createMailSender(settingsOf(`smtp://127.0.0.1:${port}`, { timeoutMs: 1_000 }))({
      to: ['oncall@example.com'],
    })(alertMessage(), stop.signal)
    stop.abort(new Error('the service is stopping'))
    await assert.rejects(sending, /stopping/)
    silent.close()
  })
})
