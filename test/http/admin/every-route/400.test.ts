import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf } from '../../../support/administration.ts'
import { adminRoutes, titleOf } from '../../../support/administration-routes.ts'
import { populatedSuite } from '../../../support/populated-suite.ts'

const broken = [
  { title: 'JSON that breaks off', body: '{"name":', code: 'invalid_json' },
  { title: 'an array', body: '[]', code: 'invalid_json' },
  { title: 'a text', body: '"name"', code: 'invalid_json' },
  { title: 'a NUL character', body: '{"name":"a\\u0000b"}', code: 'invalid_json' },
  { title: 'nothing', body: '', code: 'invalid_json' },
  { title: 'another content type', body: '{}', type: 'text/plain', code: 'invalid_content_type' },
]

describe('every administration route with a body', () => {
  const { admin, pathTo } = populatedSuite()

  for (const route of adminRoutes.filter(({ body }) => body !== undefined)) {
    for (const { title, body, code, type = 'application/json' } of broken) {
      it(`${titleOf(route)} rejects ${title}`, async () => {
        const headers = { 'content-type': type }
        const answer = await admin().send(route.method, pathTo(route), { body, headers })
        assert.deepEqual([answer.status, errorOf(answer)['code']], [400, code])
      })
    }
  }

  for (const route of adminRoutes.filter(({ method, isEnquiry }) => method !== 'GET' && !isEnquiry)) {
    it(`${titleOf(route)} rejects an Idempotency-Key that is too long or not visible ASCII`, async () => {
      for (const key of ['k'.repeat(256), 'a b', 'ä'.normalize()]) {
        const headers = { 'idempotency-key': Buffer.from(key).toString('latin1') }
        const answer = await admin().send(route.method, pathTo(route), { body: route.body, headers })
        assert.deepEqual([answer.status, errorOf(answer)['param']], [400, 'Idempotency-Key'])
      }
    })
  }

  const lists = adminRoutes.filter(({ method, path }) => method === 'GET' && !path.endsWith('}'))
  for (const route of lists) {
    it(`${titleOf(route)} rejects an invalid cursor`, async () => {
      for (const cursor of ['', 'nobody', 'x'.repeat(201), 'a%00b', 'a&after=b']) {
        const answer = await admin().send('GET', `${pathTo(route)}?after=${cursor}`)
        assert.deepEqual(
          [answer.status, errorOf(answer)['code'], errorOf(answer)['param']],
          [400, 'invalid_cursor', 'after'],
        )
      }
    })
  }
})
