import { createHmac } from 'node:crypto'
import Type from 'typebox'
import { masked } from './fields.ts'
import { patternOf } from './patterns.ts'

/** A secret in the format of Standard Webhooks (`whsec_` and base64), or as plain characters. */
export const signingSecret = Type.String({
  pattern: patternOf(
    '^(whsec_[A-Za-z0-9+/]{32,128}={0,2}|(?!whsec_)[\\x21-\\x7e]{24,256})$',
    'must have at least 24 characters without spaces, or be whsec_ and the base64 of at least 24 bytes',
  ),
  description: `Signing key: \`whsec_\` and base64, or at least 24 plain characters. ${masked}`,
  examples: ['at-least-24-plain-characters'],
})

type SignedBody = { readonly id: string; readonly body: string; readonly nowMs: number }

/** The headers of Standard Webhooks (https://www.standardwebhooks.com): the id, the time and the signature over both and the body. */
export function signedHeaders(secret: string, { id, body, nowMs }: SignedBody): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

function keyOf(secret: string): Buffer {
  const prefix = 'whsec_'
  return secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret)
}
