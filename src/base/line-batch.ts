import { writeSync } from 'node:fs'
import { pino, type DestinationStream } from 'pino'

export type LineBatch = DestinationStream & { flush(done?: (error?: Error) => void): void }

const fullCharacters = 8192
const waitMs = 250
const standardOutput = 1

/** Lines leave in batches: at thousands of requests a second the write is dearer than the line. */
export function createLineBatch(): LineBatch {
  const output = pino.destination({ dest: standardOutput, sync: false })
  let waiting = ''
  let timer: NodeJS.Timeout | undefined

  const handOn = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (waiting !== '') output.write(waiting)
    waiting = ''
  }
  // Whatever ends the process, what it said last is what one wants to read.
  process.once('exit', () => {
    try {
      handOn()
      output.flushSync()
    } catch {
      writeLast(waiting)
    }
  })
  return {
    write(line) {
      waiting += line
      if (waiting.length >= fullCharacters) handOn()
      else timer ??= setTimeout(handOn, waitMs).unref()
    },
    flush(done) {
      handOn()
      output.flush(done)
    },
  }
}

/** Where the stream has ended with the process, all that it was given is out. */
function writeLast(text: string): void {
  try {
    if (text !== '') writeSync(standardOutput, text)
  } catch {
    // Nobody reads it any more.
  }
}
