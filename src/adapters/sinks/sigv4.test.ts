import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeKey, signRequest, type Signable } from './sigv4.ts'

// Example credentials and signatures from the AWS documentation of Signature Version 4 for S3.
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}
const example = { region: 'us-east-1', service: 's3', nowMs: Date.UTC(2013, 4, 24) } as const
const signatureOf = (request: Signable): string =>
  signRequest(request, credentials).authorization?.split('Signature=')[1] ?? ''

describe('a signature', () => {
  it('of a GET matches the AWS documentation', () => {
    const url = new URL('https://examplebucket.s3.amazonaws.com/test.txt')
    const signature = signatureOf({ ...example, method: 'GET', url, headers: { range: 'bytes=0-9' }, body: '' })
    assert.equal(signature, 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41')
  })

  it('of a PUT with an escaped key matches the AWS documentation', () => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com/${encodeKey('test$file.text')}`)
    const headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' }
    const signature = signatureOf({ ...example, method: 'PUT', url, headers, body: 'Welcome to Amazon S3.' })
    assert.equal(signature, '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd')
  })

  it('includes and signs the session token', () => {
    const url = new URL('https://examplebucket.s3.amazonaws.com/test.txt')
    const headers = signRequest(
      { ...example, method: 'GET', url, headers: {}, body: '' },
      { ...credentials, sessionToken: 't' },
    )
    assert.equal(headers['x-amz-security-token'], 't')
    assert.match(
      headers.authorization ?? '',
      /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/,
    )
  })
})

describe('a key', () => {
  const encodings: [string, string][] = [
    ['org=org_1/dt=2026-08-23/x.gz', 'org%3Dorg_1/dt%3D2026-08-23/x.gz'],
    ['a b/ü', 'a%20b/%C3%BC'],
    ["it's (1)*!", 'it%27s%20%281%29%2A%21'],
    ['-_.~', '-_.~'],
  ]
  for (const [key, path] of encodings) {
    it(`"${key}" is encoded as ${path}, also through a URL`, () => {
      assert.equal(encodeKey(key), path)
      assert.equal(new URL(`https://x/${path}`).pathname, `/${path}`)
    })
  }
})
