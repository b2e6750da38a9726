import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quantilesOf, type Quantiles } from './quantiles.ts'

const writes = 200
const pageBytes = 8192

/** How long this disk takes to write one page durably into a file that exists. No commit can be faster. */
export function timeDurableWrite(): Quantiles {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  const file = openSync(join(folder, 'log'), 'w')
  const page = Buffer.alloc(pageBytes, 1)
  for (let at = 0; at < writes; at++) writeSync(file, page)
  fdatasyncSync(file)
  const times = Array.from({ length: writes }, (_, at) => {
    const startMs = performance.now()
    writeSync(file, page, 0, pageBytes, at * pageBytes)
    fdatasyncSync(file)
    return performance.now() - startMs
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  return quantilesOf(times)
}
