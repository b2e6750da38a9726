import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Appeal } from '../appeals/appeal.ts'
import { createPolicy } from '../policy/lifecycle.ts'
import { collectLabels } from './labels.ts'

it('a calibration reads the texts of the newest 500 appeals, and says how many it left out', async () => {
  const organizationId = 'org_1'
  const policy = createPolicy({ name: 'Polite', rule: 'Be polite.' }, { id: 'pol_1', organizationId, nowMs: 1 })
  const appeals = Array.from({ length: 620 }, (_, at) => String(at).padStart(3, '0'))
  const read: string[] = []
  const { items, leftOut } = await collectLabels(
    {
      policies: {
        find: async () => policy,
        list: async () => ({ items: [{ id: 'pol_1' } as never], hasMore: false }),
      },
      cases: { all: async () => [] },
      appeals: {
        async list(_organization, filter, { after, limit, order }) {
          assert.deepEqual([filter.isLabelled, order], [true, 'desc'])
          const rest = appeals.toReversed().filter((id) => after === undefined || id < after)
          const page = rest.slice(0, limit).map((id) => ({ id, organizationId, requestId: id, caseId: null }) as Appeal)
          return { items: page, hasMore: rest.length > limit }
        },
        labels: async () => [{ should: 'match', labelledBy: 'mem_1', labelledAtMs: 1 } as never],
      },
      events: {
        async findRequest(_organization, id) {
          read.push(id)
          return undefined
        },
      },
    },
    { organizationId, nowMs: 1 },
  )
  assert.deepEqual([items.length, leftOut.without_text, leftOut.over_limit], [0, 500, 120])
  assert.deepEqual([read[0], read.at(-1)], ['619', '120'])
})
