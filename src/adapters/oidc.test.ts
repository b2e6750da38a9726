import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../base/clock.ts'
import { IdentityProviderError } from '../domain/members/identity-provider.ts'
import { createOidcProvider } from './oidc.ts'

const settings = {
  clientId: 'gatehouse-console',
  clientSecret: () => undefined,
  scopes: ['openid'],
  groupsClaim: 'groups',
  trustEmail: false,
}

/** Answers every request with the description of this issuer. */
function describeIssuer(issuer: string): Response {
  const endpoint = 'https://login.microsoftonline.com/oauth2'
  return Response.json({ issuer, authorization_endpoint: endpoint, token_endpoint: endpoint, jwks_uri: endpoint })
}

describe('an issuer', () => {
  it('is discovered once for all sign-ins that wait for it', async (test) => {
    const issuer = 'https://id.example'
    const fetched = test.mock.method(globalThis, 'fetch', async () => describeIssuer(issuer))
    const provider = createOidcProvider({ ...settings, issuer }, systemClock)
    await Promise.all([1, 2, 3].map(() => provider.start('https://gatehouse.example/callback')))
    assert.equal(fetched.mock.callCount(), 1)
  })
})

describe('an issuer of many tenants', () => {
  it('is refused, because anybody can create a tenant with any groups', async (test) => {
    test.mock.method(globalThis, 'fetch', async () =>
      describeIssuer('https://login.microsoftonline.com/{tenantid}/v2.0'),
    )
    const issuer = 'https://login.microsoftonline.com/common/v2.0'
    const provider = createOidcProvider({ ...settings, issuer }, systemClock)
    await assert.rejects(provider.start('https://gatehouse.example/callback'), (error) => {
      assert.ok(error instanceof IdentityProviderError)
      assert.match(error.message, /every tenant/)
      return true
    })
  })

  it('is accepted for one tenant', async (test) => {
    const issuer = 'https://login.microsoftonline.com/0aa1/v2.0'
    test.mock.method(globalThis, 'fetch', async () => describeIssuer(issuer))
    const provider = createOidcProvider({ ...settings, issuer }, systemClock)
    assert.match((await provider.start('https://gatehouse.example/callback')).url, /login\.microsoftonline\.com/)
  })
})
