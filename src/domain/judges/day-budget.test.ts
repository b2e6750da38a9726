import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createMemorySlices } from '../../../test/support/budget-slices.ts'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { dayMs } from '../../base/clock.ts'
import { allBudgets, createSharedBudget } from './day-budget.ts'

function openNodes(maxUsd: number, count = 2) {
  const { clock, advance } = createHandClock()
  const slices = createMemorySlices()
  const nodes = Array.from({ length: count }, () => createSharedBudget({ name: 'judge', maxUsd, slices, clock }))
  return { nodes, slices, advance }
}

describe('the budget of a day, shared by nodes', () => {
  it('is never exceeded, whatever the nodes reserve and spend', async () => {
    const spending = fc.array(
      fc.record({
        node: fc.nat({ max: 1 }),
        usd: fc.double({ min: 0.001, max: 0.3, noNaN: true }),
        share: fc.nat({ max: 100 }),
      }),
      { maxLength: 120 },
    )
    await fc.assert(
      fc.asyncProperty(spending, async (calls) => {
        const { nodes } = openNodes(2)
        let spent = 0
        for (const { node, usd, share } of calls) {
          const settle = await nodes[node]?.reserve(usd)
          if (settle === undefined) continue
          const used = (usd * share) / 100
          settle(used)
          spent += used
        }
        assert.ok(spent <= 2 + 1e-3, `${spent} was spent`)
      }),
      { numRuns: 60 },
    )
  })

  it('can be spent to the end by one node, apart from a slice', async () => {
    const { nodes } = openNodes(1)
    let spent = 0
    for (;;) {
      const settle = await nodes[0]?.reserve(0.01)
      if (!settle) break
      settle(0.01)
      spent += 0.01
    }
    assert.ok(spent > 0.97 && spent <= 1.0001, String(spent))
  })

  it('gives at most one slice more to each node while the database cannot be reached', async () => {
    const { nodes, slices } = openNodes(1)
    slices.isDown = true
    let spent = 0
    for (const node of nodes)
      for (let tries = 0; tries < 50; tries++) {
        const settle = await node.reserve(0.005)
        if (!settle) continue
        settle(0.005)
        spent += 0.005
      }
    assert.ok(spent > 0 && spent <= 2 * 0.02 + 1e-6, String(spent))
  })

  it('begins again with the next day, and a late call of the day before does not count', async () => {
    const { nodes, advance } = openNodes(0.1, 1)
    const [node] = nodes
    const settle = await node?.reserve(0.1)
    assert.equal(await node?.reserve(0.01), undefined)
    advance(dayMs)
    settle?.(0.1)
    assert.equal(node?.spentTodayUsd(), 0)
    assert.ok(await node?.reserve(0.1))
  })

  it('gets back what a node that ends has not used', async () => {
    const { nodes, slices } = openNodes(1, 1)
    const settle = await nodes[0]?.reserve(0.001)
    settle?.(0.001)
    await new Promise((resolve) => setImmediate(resolve))
    await nodes[0]?.[Symbol.asyncDispose]()
    assert.equal(slices.takenMicros(), 1_000)
  })

  it('is left alone by a call that another budget does not allow', async () => {
    const rich = openNodes(1, 1).nodes
    const poor = openNodes(0.01, 1).nodes
    const both = allBudgets([...rich, ...poor])
    assert.equal(await both.reserve(0.5), undefined)
    assert.equal(rich[0]?.spentTodayUsd(), 0)
  })
})
