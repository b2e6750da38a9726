import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { checkConfig } from '../../config/config.ts'
import { checkTokens } from './tokens.ts'

describe('the doctor’s check of tokens', () => {
  let answer = { status: 200, text: '' }
  const issuer = createServer((_request, response) => response.writeHead(answer.status).end(answer.text))
  before(() => new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve)))
  after(() => void issuer.close())

  const check = async (jwt: object, isOffline = false) => {
    const settings = { issuer: 'https://id.example.com', audience: 'gatehouse', ...jwt }
    const [diagnosis] = await checkTokens(checkConfig({ auth: { jwt: settings } }), { isOffline })
    return diagnosis
  }
  const jwksUrl = () => `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks`

  it('says nothing if tokens are not configured', async () => {
    assert.deepEqual(await checkTokens(checkConfig({}), { isOffline: false }), [])
  })

  it('counts the keys that can be used', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true })
    const key = await exportJWK(publicKey)
    answer = {
      status: 200,
      text: JSON.stringify({
        keys: [
          { ...key, kid: 'a', alg: 'ES256' },
          { ...key, kid: 'b' },
        ],
      }),
    }
    assert.partialDeepStrictEqual(await check({ jwks_url: jwksUrl() }), { state: 'ok' })
    assert.match((await check({ jwks_url: jwksUrl() }))?.message ?? '', /has 2 keys for tokens of https:/)
    answer = { status: 200, text: JSON.stringify({ keys: [{ ...key, kid: 'a', alg: 'ES512' }] }) }
    const unusable = await check({ jwks_url: jwksUrl() })
    assert.equal(unusable?.state, 'wrong')
    assert.match(unusable?.message ?? '', /found: ES512/)
  })

  it('reports keys that cannot be fetched, with the address', async () => {
    for (const broken of [
      { status: 404, text: 'no' },
      { status: 200, text: '<html>' },
    ]) {
      answer = broken
      const diagnosis = await check({ jwks_url: jwksUrl() })
      assert.equal(diagnosis?.state, 'wrong')
      assert.match(diagnosis?.message ?? '', /127\.0\.0\.1.*tokens get 503/)
    }
    assert.equal((await check({ jwks_url: 'http://127.0.0.1:1/jwks' }))?.state, 'wrong')
  })

  it('makes no call offline or with a shared secret, and reports a section with no source of keys', async () => {
    assert.equal((await check({ jwks_url: 'http://127.0.0.1:1/jwks' }, true))?.state, 'ok')
    assert.equal((await check({ secret: 'x'.repeat(32) }))?.state, 'ok')
    assert.equal((await check({}))?.state, 'wrong')
  })
})
