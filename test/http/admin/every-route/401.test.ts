import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminOf, errorOf, textOf } from '../../../support/administration.ts'
import { adminRoutes, titleOf } from '../../../support/administration-routes.ts'
import { populatedSuite } from '../../../support/populated-suite.ts'

const challenge = 'Bearer realm="gatehouse"'

describe('every administration route', () => {
  const { app, admin, pathTo } = populatedSuite({ config: { server: { auth_failures_per_minute: 1000 } } })

  for (const route of adminRoutes) {
    it(`${titleOf(route)} requires a key, and names the scheme`, async () => {
      const options = { body: route.body }
      const nobody = await adminOf(app().url, '').send(route.method, pathTo(route), {
        ...options,
        headers: { authorization: '' },
      })
      const stranger = await adminOf(app().url, 'adm_nobody').send(route.method, pathTo(route), options)
      const application = await adminOf(app().url, app().apiKey).send(route.method, pathTo(route), options)
      for (const answer of [nobody, stranger, application]) {
        assert.equal(answer.status, 401)
        assert.equal(errorOf(answer)['type'], 'auth_error')
        assert.equal(errorOf(answer)['code'], 'invalid_api_key')
        assert.equal(errorOf(answer)['request_id'], answer.headers.get('x-request-id'))
        assert.ok(answer.headers.get('www-authenticate')?.startsWith(challenge))
      }
      assert.equal(stranger.headers.get('www-authenticate'), `${challenge}, error="invalid_token"`)
    })
  }

  it('names no error in WWW-Authenticate if no credential was sent', async () => {
    const response = await fetch(`${app().url}/v1/organization/policies`)
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('www-authenticate'), challenge)
  })

  it('says that the scheme is missing if a key is sent without it', async () => {
    const { key } = admin()
    for (const authorization of [key, `Basic ${key}`, `Token ${key}`, `Bearer: ${key}`]) {
      for (const path of ['/v1/organization/policies', '/api/policy-gateway/config']) {
        const response = await fetch(app().url + path, { headers: { authorization } })
        assert.equal(response.status, 401)
        assert.equal(response.headers.get('www-authenticate'), `${challenge}, error="invalid_token"`)
        const { error } = (await response.json()) as { error: { message: string } }
        if (path.startsWith('/v1'))
          assert.equal(error.message, 'The scheme Bearer is missing. Send the key as: Authorization: Bearer adm_…')
      }
    }
    const headers = { authorization: `bearer ${key}` }
    assert.equal((await fetch(`${app().url}/v1/organization/policies`, { headers })).status, 200)
  })

  it('rejects a key as soon as it is revoked', async () => {
    const made = await admin().post('/admin_api_keys', { name: 'Short-lived' })
    const holder = adminOf(app().url, textOf(made, 'value'))
    await holder.get('/policies')
    assert.equal((await admin().send('DELETE', `/admin_api_keys/${textOf(made)}`)).status, 200)
    assert.equal((await holder.send('GET', '/policies')).status, 401)
  })
})
