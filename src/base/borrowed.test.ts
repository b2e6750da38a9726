import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBorrowed } from './borrowed.ts'

describe('borrowed things', () => {
  const thing = (log: string[], name: string, failure?: Error): AsyncDisposable => ({
    async [Symbol.asyncDispose]() {
      log.push(name)
      if (failure) throw failure
    },
  })

  it('go back once, the last one first', async () => {
    const log: string[] = []
    const borrowed = createBorrowed()
    for (const name of ['a', 'b', 'c']) borrowed.use(thing(log, name))
    await borrowed.giveBack()
    await borrowed.giveBack()
    assert.deepEqual(log, ['c', 'b', 'a'])
  })

  it('all go back where one fails, and its failure is told', async () => {
    const log: string[] = []
    const borrowed = createBorrowed()
    borrowed.use(thing(log, 'a'))
    borrowed.use(thing(log, 'b', new Error('stuck')))
    borrowed.use(thing(log, 'c'))
    await assert.rejects(borrowed.giveBack(), /stuck/)
    assert.deepEqual(log, ['c', 'b', 'a'])
  })
})
