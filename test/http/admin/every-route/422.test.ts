import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf } from '../../../support/administration.ts'
import { adminRoutes, idsIn, pathOf, titleOf } from '../../../support/administration-routes.ts'
import { populatedSuite } from '../../../support/populated-suite.ts'

describe('every administration route', () => {
  const { admin, pathTo } = populatedSuite()

  for (const route of adminRoutes) {
    it(`${titleOf(route)} rejects an unknown query parameter`, async () => {
      const path = pathTo(route)
      const answer = await admin().send(route.method, `${path}${path.includes('?') ? '&' : '?'}typo=1`, {
        body: route.body,
      })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'typo'])
      assert.equal(errorOf(answer)['type'], 'validation_error')
      assert.equal(errorOf(answer)['code'], 'invalid_parameter')
    })
  }

  for (const route of adminRoutes.filter(({ body }) => body !== undefined)) {
    it(`${titleOf(route)} rejects an unknown field`, async () => {
      const answer = await admin().send(route.method, pathTo(route), {
        body: { ...route.body, typo: 1 },
      })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'typo'])
    })
  }

  for (const route of adminRoutes.filter(({ body, needsNothing }) => body !== undefined && !needsNothing)) {
    it(`${titleOf(route)} names the missing field`, async () => {
      const answer = await admin().send(route.method, pathTo(route), { body: {} })
      assert.equal(answer.status, 422)
      assert.ok(Object.keys(route.body ?? {}).includes(String(errorOf(answer)['param'])))
    })
  }

  for (const route of adminRoutes.filter((each) => idsIn(each).length > 0)) {
    it(`${titleOf(route)} treats an id of 200 characters as unknown, and a longer one as invalid`, async () => {
      for (const [length, status] of [
        [200, 404],
        [201, 422],
      ] as const) {
        const long = Object.fromEntries(idsIn(route).map((name) => [name, 'ä'.repeat(length)]))
        const answer = await admin().send(route.method, pathOf(route, long), { body: route.body })
        assert.equal(answer.status, status)
      }
    })

    it(`${titleOf(route)} rejects an id with a NUL character`, async () => {
      const broken = Object.fromEntries(idsIn(route).map((name) => [name, 'a\0b']))
      const answer = await admin().send(route.method, pathOf(route, broken), { body: route.body })
      assert.equal(answer.status, 422)
    })
  }
})
