/** The detector of prompt injections on its probes: no group may fall below the count that it reached when the model was written. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countRight, readInjectionFloors, readInjectionProbes } from '../scripts/injection/probes.ts'
import { createInjectionDetector } from '../src/adapters/injection/detector.ts'

const detector = createInjectionDetector()
const floors = readInjectionFloors()

describe('the detector of prompt injections is right about as many probes as before:', () => {
  for (const probes of readInjectionProbes())
    it(probes.name, async () => {
      const { right, texts } = await countRight(probes, detector)
      const floor = floors[probes.name]
      assert.ok(floor !== undefined && right >= floor, `${right} of ${texts}, ${floor} before`)
    })
})
