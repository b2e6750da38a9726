import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

export type BufferedStdout = DestinationStream & { flush(done?: () => void): void }

const fullCharacters = 8192
/** More wait only where the reader has stopped reading; a log must not take all memory. */
const mostCharacters = 8 * 1024 * 1024
const waitMs = 250
const busyMs = 10
const standardOutput = 1

/**
 * Lines leave in batches: at thousands of requests a second the write is dearer than the line. A reader who does not
 * read holds nobody up.
 */
export function createBufferedStdout(): BufferedStdout {
  let waiting = ''
  let dropped = 0
  let isWriting = false
  let isWatching = false
  let timer: NodeJS.Timeout | undefined
  let onFlushed: (() => void)[] = []

  function flushNow(): void {
    clearTimeout(timer)
    timer = undefined
    if (isWriting) return
    if (waiting === '') return tellFlushed()
    const bytes = Buffer.from(dropped === 0 ? waiting : waiting + gap(dropped))
    waiting = ''
    dropped = 0
    isWriting = true
    writeAll(bytes, () => {
      isWriting = false
      if (waiting.length >= fullCharacters || onFlushed.length > 0) flushNow()
      else if (waiting !== '') arm()
    })
  }

  function arm(): void {
    timer ??= setTimeout(flushNow, waitMs).unref()
  }

  function tellFlushed(): void {
    const told = onFlushed
    onFlushed = []
    for (const done of told) done()
  }

  /** A process that has nothing more to do does this first. A log that never says anything need not be waited for. */
  function watchExit(): void {
    isWatching = true
    process.on('beforeExit', flushNow)
    process.once('exit', () => writeLast(waiting))
  }

  return {
    write(line) {
      if (!isWatching) watchExit()
      if (waiting.length >= mostCharacters) return void dropped++
      waiting += line
      if (waiting.length >= fullCharacters) flushNow()
      else arm()
    },
    flush(done) {
      if (done) onFlushed.push(done)
      flushNow()
    },
  }
}

function gap(lines: number): string {
  const message = `${lines} lines were left out: nobody read the log`
  return `${JSON.stringify({ level: 'error', time: new Date().toISOString(), message })}\n`
}

function writeAll(bytes: Buffer, done: () => void): void {
  write(standardOutput, bytes, (error, written) => {
    if (error?.code === 'EAGAIN') setTimeout(writeAll, busyMs, bytes, done)
    else if (!error && written < bytes.length) writeAll(bytes.subarray(written), done)
    else done() // where nobody reads any more there is nobody to tell
  })
}

/** What is said last is what one wants to read where a process broke down. */
function writeLast(text: string): void {
  try {
    if (text !== '') writeSync(standardOutput, text)
  } catch {
    // Nobody reads it any more.
  }
}
