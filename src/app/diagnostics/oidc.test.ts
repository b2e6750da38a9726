import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConfig } from '../../config/config.ts'
import { startOidcProvider } from '../../../test/support/oidc-provider.ts'
import { checkOidc } from './oidc.ts'

const configOf = (oidc: object) => checkConfig({ console: { oidc: { client_id: 'x', ...oidc } } })

describe('the doctor on the identity provider', () => {
  it('reads the description of the issuer', async () => {
    await using provider = await startOidcProvider()
    const [found] = await checkOidc(configOf({ issuer: provider.issuer }), { isOffline: false })
    assert.equal(found?.state, 'ok')
    assert.match(found.message, /only invited members/)
  })

  it('reports an issuer that does not answer, and a list of scopes without openid', async () => {
    const [silent] = await checkOidc(configOf({ issuer: 'http://127.0.0.1:1' }), { isOffline: false })
    assert.deepEqual([silent?.state, silent?.message.includes('http://127.0.0.1:1')], ['wrong', true])
    const [scopes] = await checkOidc(configOf({ issuer: 'https://id.example', scopes: ['email'] }), { isOffline: true })
    assert.equal(scopes?.state, 'wrong')
  })

  it('says nothing without one', async () => {
    assert.deepEqual(await checkOidc(checkConfig({}), { isOffline: false }), [])
  })
})
