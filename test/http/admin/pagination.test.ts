import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { itemsOf, startAdminApp, textOf, type Admin } from '../../support/administration.ts'

/** Between two pages rows are added and removed, including the row of the cursor. */
const between = fc.record({
  added: fc.integer({ min: 0, max: 3 }),
  deleted: fc.array(fc.nat(), { maxLength: 3 }),
  cursor: fc.boolean(),
})

describe('pages of a list that changes', () => {
  it('skip no row that existed throughout, and show no row twice', async () => {
    await using app = await startAdminApp()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('asc', 'desc'),
        fc.integer({ min: 1, max: 4 }),
        fc.array(between, { minLength: 8, maxLength: 8 }),
        async (order, limit, changes) => {
          const { admin } = await app.otherOrganization()
          const present = new Set<string>()
          for (let count = 0; count < 8; count++) present.add(await create(admin))
          const lasting = new Set(present)
          const seen: string[] = []
          let after = ''
          for (let turn = 0; ; turn++) {
            const page = await admin.get(`/policies?order=${order}&limit=${limit}${after}`)
            seen.push(...itemsOf(page).map((item) => textOf(item)))
            if (page['has_more'] !== true) break
            after = `&after=${String(page['last_id'])}`
            const { added, deleted, cursor } = changes[turn % changes.length] ?? {
              added: 0,
              deleted: [],
              cursor: false,
            }
            const victims = [...deleted.map((at) => [...present][at % present.size]), ...(cursor ? [seen.at(-1)] : [])]
            for (const id of new Set(victims)) {
              if (id === undefined || !present.delete(id)) continue
              lasting.delete(id)
              assert.equal((await admin.send('DELETE', `/policies/${id}?revision=1`)).status, 200)
            }
            for (let count = 0; count < (turn < 8 ? added : 0); count++) present.add(await create(admin))
          }
          assert.equal(new Set(seen).size, seen.length, 'twice')
          assert.deepEqual(
            [...lasting].filter((id) => !seen.includes(id)),
            [],
            'skipped',
          )
          assert.deepEqual(seen, order === 'asc' ? seen.toSorted() : seen.toSorted().toReversed(), 'out of order')
        },
      ),
      { numRuns: 12 },
    )
  })
})

let created = 0
const create = async (admin: Admin): Promise<string> =>
  textOf(await admin.post('/policies', { name: `P${++created}`, rule: 'r' }))
