import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { dayMs } from '../../base/clock.ts'
import type { SinkFile } from '../../domain/audit/export/sink.ts'
import { focusCsv, focusTestName, type DayCost, type FocusDay } from '../../domain/costs/focus.ts'

/** Rows as gzipped CSV. Only the compressed file is whole in memory. */
export async function compressedCsv(rows: readonly DayCost[], day: FocusDay): Promise<Buffer> {
  const parts: Buffer[] = []
  await pipeline(focusCsv(rows, day), createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const part of compressed) parts.push(part)
  })
  return Buffer.concat(parts)
}

type About = { readonly organizationId: string; readonly id: string; readonly nowMs: number }

/** A file with one row that costs nothing, out of the folder of the costs, so that nobody counts it. */
export async function testCostFile({ organizationId, id, nowMs }: About): Promise<SinkFile> {
  const body = await compressedCsv([testRow], {
    organization: { id: organizationId, name: 'Test of the export sink' },
    day: (Math.floor(nowMs / dayMs) * dayMs) / 1000,
    creditUsd: 1,
    names: { project: new Map(), key: new Map() },
  })
  return { name: focusTestName(organizationId, id), body }
}

const testRow: DayCost = {
  projectId: '',
  keyId: '',
  model: 'test',
  tags: '',
  requests: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  costMicro: 0,
}
