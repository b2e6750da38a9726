import assert from 'node:assert/strict'
import test from 'node:test'
import { canonicalize } from './canonical.ts'
import { truncated, cutText } from './truncate.ts'
import { withContent, withoutContent, type AuditContent } from './content.ts'
import { createEvent } from './event.ts'

const { document } = createEvent(
  {
    code: 'gateway.request.decided',
    organizationId: 'org_1',
    timeMs: 1,
    message: 'm',
    model: { provider: 'p', name: 'n' },
  },
  { id: 'evt_1', loggedMs: 2, productVersion: '0.1.0' },
)
const content: AuditContent = {
  redacted: { prompt: 'call [PHONE_1]' },
  full: { prompt: 'call 555-0100', rule: 'no calls' },
}

test('a sink gets only the texts that its level allows', () => {
  assert.equal(withContent(document, content, 'none'), document)
  assert.equal(withContent(document, content, 'redacted').message_context?.prompt_text, 'call [PHONE_1]')
  assert.equal(withContent(document, content, 'full').message_context?.prompt_text, 'call 555-0100')
  assert.equal(withContent(document, { full: { prompt: 'secret' } }, 'redacted'), document)
})

test('removing the texts gives the document that was hashed, truncated or not', () => {
  const long = withContent(document, { full: { prompt: 'x'.repeat(100_000), rule: 'r' } }, 'full')
  const cut = truncated(long, { fieldBytes: 1_000, eventBytes: 10_000 })
  assert.notDeepEqual(cut, long)
  assert.equal(canonicalize(withoutContent(long)), canonicalize(document))
  assert.equal(canonicalize(withoutContent(cut)), canonicalize(document))
})

test('an event within the limits is unchanged', () => {
  assert.equal(truncated(document, { fieldBytes: 64_000, eventBytes: 256_000 }), document)
})

test('a long field is truncated to the byte limit, and the event is marked', () => {
  const long = withContent(document, { full: { prompt: 'é'.repeat(50_000) } }, 'full')
  const cut = truncated(long, { fieldBytes: 64_000, eventBytes: 256_000 })
  const text = cut.message_context?.prompt_text ?? ''
  assert.ok(Buffer.byteLength(text) <= 64_000 && Buffer.byteLength(text) > 63_990)
  assert.ok(text.endsWith('é…'))
  assert.equal(cut.metadata.is_truncated, true)
  assert.equal(cut.metadata.untruncated_size, Buffer.byteLength(JSON.stringify(long)))
})

test('a long event is truncated until it fits', () => {
  const texts = { prompt: 'a'.repeat(60_000), response: 'b'.repeat(60_000) }
  const cut = truncated(withContent(document, { full: texts }, 'full'), { fieldBytes: 64_000, eventBytes: 64_000 })
  assert.ok(Buffer.byteLength(JSON.stringify(cut)) <= 64_000)
  assert.equal(cut.metadata.is_truncated, true)
})

test('no character is cut in half', () => {
  for (let bytes = 3; bytes < 12; bytes++) {
    const text = cutText('\ud83d\ude00\ud83d\ude00\ud83d\ude00', bytes)
    assert.match(text, /^(\ud83d\ude00)*…?$/u)
    assert.ok(Buffer.byteLength(text) <= bytes)
  }
})
