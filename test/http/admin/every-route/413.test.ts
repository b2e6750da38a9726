import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf } from '../../../support/administration.ts'
import { adminRoutes, titleOf } from '../../../support/administration-routes.ts'
import { populatedSuite } from '../../../support/populated-suite.ts'

const policyUpdate = 'PATCH /policies/{policy_id}'

describe('every administration route with a body', () => {
  const { admin, pathTo } = populatedSuite()

  for (const route of adminRoutes.filter(({ body }) => body !== undefined)) {
    const limit = titleOf(route) === policyUpdate ? 64 * 1024 : 256 * 1024
    it(`${titleOf(route)} accepts ${limit / 1024} KiB and not a byte more`, async () => {
      const send = (body: string) => admin().send(route.method, pathTo(route), { body })
      const over = await send(padded(limit + 1))
      assert.deepEqual([over.status, errorOf(over)['code']], [413, 'body_too_large'])
      assert.equal((await send(padded(limit))).status, 422) // read, then rejected for its unknown field
    })
  }
})

const padded = (bytes: number): string => `{"x":"${'x'.repeat(bytes - 8)}"}`
