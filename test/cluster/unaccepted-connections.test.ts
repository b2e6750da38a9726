import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { startProgram } from '../support/program.ts'

const program = new URL('programs/blocked-worker.ts', import.meta.url)

async function firstLine(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) return line
  throw new Error('the program ended')
}

describe('a connection that was given to a worker which dies before it accepts it', () => {
  it('is closed, so that its caller does not wait for an answer', async () => {
    await using running = startProgram(program, [])
    const { port, pid } = JSON.parse(await firstLine(running.lines)) as { port: number; pid: number }
    const callers = Array.from({ length: 3 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await Promise.all(callers.map((caller) => once(caller, 'connect')))
    const closed = callers.map((caller) => once(caller.resume(), 'close'))
    process.kill(pid, 'SIGKILL')
    assert.equal((await Promise.all(closed)).length, 3)
  })
})
