import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

export type BufferedStdout = DestinationStream & { flush(done?: () => void): void }

const fullCharacters = 65_536
/** More is dropped. It is reached only if the reader has stopped reading, and a log must not use up the memory. */
const mostCharacters = 8 * 1024 * 1024
const waitMs = 250
const busyMs = 10
const standardOutput = 1

/**
 * Writes log lines in batches, because at thousands of requests a second a write costs more than a line. A reader that does not
 * read delays no request.
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
    if (waiting === '') return callFlushed()
    const bytes = Buffer.from(dropped === 0 ? waiting : waiting + droppedLine(dropped))
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

  function callFlushed(): void {
    const callbacks = onFlushed
    onFlushed = []
    for (const done of callbacks) done()
  }

  /** Flushes before the process exits. Registered at the first line, so a log without lines delays no exit. */
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

function droppedLine(lines: number): string {
  const message = `${lines} lines were dropped because the log was not read`
  return `${JSON.stringify({ level: 'error', time: new Date().toISOString(), message })}\n`
}

function writeAll(bytes: Buffer, done: () => void): void {
  write(standardOutput, bytes, (error, written) => {
    if (error?.code === 'EAGAIN') setTimeout(writeAll, busyMs, bytes, done)
    else if (!error && written < bytes.length) writeAll(bytes.subarray(written), done)
    else done() // the reader has gone, so the error cannot be reported
  })
}

/** Synchronous, because the last lines before a crash are the most useful ones. */
function writeLast(text: string): void {
  try {
    if (text !== '') writeSync(standardOutput, text)
  } catch {
    // The reader has gone.
  }
}
