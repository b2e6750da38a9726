import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemClock } from '../../base/clock.ts'
import { createChanges } from '../mutations/changes.ts'
import { createActiveBudgets } from './active-budgets.ts'
import type { Budget } from './budget.ts'

it('active budgets are read once, and again after a change of their organization', async () => {
  const changes = createChanges(systemClock)
  let reads = 0
  let stored: readonly Budget[] = []
  const listActive = async (): Promise<readonly Budget[]> => {
    reads += 1
    return stored
  }
  const activeBudgetsOf = createActiveBudgets({ changes, budgets: { listActive } })
  assert.deepEqual(await activeBudgetsOf('org_1'), [])
  const known = activeBudgetsOf('org_1')
  assert.ok(!(known instanceof Promise), 'a cached list comes without a wait')
  assert.equal(known, await activeBudgetsOf('org_2'), 'organizations without budgets share one list')
  assert.equal(reads, 2)
  stored = [{ id: 'bud_1' } as unknown as Budget]
  changes.announce('org_1', [])
  assert.equal(await activeBudgetsOf('org_1'), stored)
  assert.equal(await activeBudgetsOf('org_2'), known)
  assert.equal(reads, 3)
})
