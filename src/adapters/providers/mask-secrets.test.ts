import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { masked, secretsOf, withoutSecrets } from './mask-secrets.ts'

const key = 'sk-proj-Ab12Cd34Ef56Gh78Ij90Kl'

const cases: { title: string; text: string; expected: string }[] = [
  { title: 'the whole key', text: `Bad key ${key}.`, expected: 'Bad key [secret].' },
  { title: 'the key in a header', text: `Authorization: Bearer ${key}`, expected: 'Authorization: Bearer [secret]' },
  { title: 'the first characters', text: `Key ${key.slice(0, 12)} is wrong`, expected: 'Key [secret] is wrong' },
  { title: 'the last characters', text: `Key ending in ${key.slice(-8)}`, expected: 'Key ending in [secret]' },
  { title: 'both ends around asterisks', text: 'key: sk-proj-***********90Kl.', expected: 'key: [secret].' },
  { title: 'both ends around dots', text: 'key sk-p...90Kl', expected: 'key [secret]' },
  { title: 'a few characters around an ellipsis', text: 'key sk-…Kl', expected: 'key [secret]' },
  { title: 'the last four characters', text: 'key ****90Kl', expected: 'key [secret]' },
  { title: 'the key twice', text: `${key}, ${key}`, expected: '[secret], [secret]' },
]

describe('the secrets of upstreams', () => {
  for (const { title, text, expected } of cases)
    it(`are masked in a message with ${title}`, () => assert.equal(masked(text, [key]), expected))

  it('leave other text as it is', () => {
    for (const text of ['Use **bold** text...', 'max_tokens: 100…', 'tool xxxxxxxx is unknown', 'a 12Cd34 b', '***'])
      assert.equal(masked(text, [key]), text)
  })

  it('leave words as they are that a key is made of', () => {
    const message = 'The connection to the model’s upstream failed.'
    assert.equal(masked(message, ['my-upstream-key']), message)
    assert.equal(masked('Wrong key my-upstream-key.', ['my-upstream-key']), 'Wrong key [secret].')
  })

  it('are the key, headers with credentials, and credentials in the address', () => {
    const headers = { 'X-Auth-Token': 'Basic dXNlcjpwYXNz', 'anthropic-beta': 'context-2026-01-01', cookie: 'short' }
    const url = 'https://user:a-long-password@host/v1?api-version=2026-01-01&code=a-long-code'
    assert.deepEqual(secretsOf({ apiKey: key, headers }, url), [key, 'dXNlcjpwYXNz', 'a-long-code', 'a-long-password'])
    assert.deepEqual(secretsOf({ apiKey: 'ollama' }), [])
  })

  it('are masked in the details of the vendor too, and the rest of the fault stays', () => {
    const cause = new Error('for the log')
    const fault = new Fault('validation', 'upstream_rejected', `No: ${key}`, {
      cause,
      vendorDetails: { echoed: [{ [key]: `Bearer ${key}` }], count: 1 },
    })
    const after = withoutSecrets(fault, [key])
    assert.ok(after instanceof Fault)
    assert.deepEqual([after.kind, after.code, after.message], ['validation', 'upstream_rejected', 'No: [secret]'])
    assert.deepEqual(after.details, {
      cause,
      vendorDetails: { echoed: [{ '[secret]': 'Bearer [secret]' }], count: 1 },
    })
    const other = new Fault('upstream_failed', 'upstream_error', 'Down.')
    assert.equal(withoutSecrets(other, [key]), other)
  })
})
