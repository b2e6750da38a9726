import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { startOfChain, type ChainPoint } from '../../domain/audit/chain/chain.ts'
import { pointOf, type SignedCheckpoint } from '../../domain/audit/chain/checkpoint.ts'
import { checkpointIn } from '../../domain/audit/chain/checkpoint-event.ts'
import { readSealed, rowOfExport, type SealedEvent } from '../../domain/audit/chain/sealed.ts'
import { checkSignatures, type LogReport } from '../../domain/audit/verify-log.ts'
import { verifyChain } from '../../domain/audit/chain/verify.ts'

/** A public key in the words of the API. */
type ShownKey = { readonly id: string; readonly public_key: string }

/** Checks events that were exported, one JSON document on a line, plain or gzipped. It needs nothing of the service. */
export async function verifyFile(path: string, keys: readonly ShownKey[]): Promise<LogReport> {
  const checkpoints: SignedCheckpoint[] = []
  const first = await firstRow(path)
  const from = first ? placeBefore(first) : startOfChain('')
  const report = await verifyChain(
    rowsOf(path, (checkpoint) => checkpoints.push(checkpoint)),
    { from },
  )
  // Only checkpoints whose place is in the file can be held against it.
  const within = checkpoints.filter(({ sequence }) => sequence > from.sequence)
  const points = within.map(pointOf)
  const again = report.finding ? report : await verifyChain(rowsOf(path), { from, checkpoints: points })
  const published = keys.map(({ id, public_key: publicKey }) => ({ id, publicKey }))
  return { ...again, first: from.sequence + 1, ...(await checkSignatures(checkpoints, published)) }
}

/** Keys as the API lists them, or as the command line does. */
export function readKeys(path: string): ShownKey[] {
  const value = jsonIn(path)
  const list: unknown = Array.isArray(value) ? value : Reflect.get(Object(value), 'data')
  if (!Array.isArray(list)) throw new Error(`${path} holds no list of keys.`)
  return list.map((key: Record<string, unknown>) => ({ id: String(key['id']), public_key: String(key['public_key']) }))
}

function jsonIn(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${path} is not JSON.`, { cause })
  }
}

async function firstRow(path: string): Promise<SealedEvent | undefined> {
  for await (const row of rowsOf(path)) return row
  return undefined
}

/** A file may begin anywhere in the log: what its first event says of the one before is all there is to go by. */
function placeBefore({ chainUid, sequence, body }: SealedEvent): ChainPoint {
  const previous = readSealed(body)?.attestation_list[0].prev_event
  return { chainUid, sequence: sequence - 1, fingerprint: previous?.fingerprint.value ?? '' }
}

async function* rowsOf(
  path: string,
  onCheckpoint?: (checkpoint: SignedCheckpoint) => void,
): AsyncGenerator<SealedEvent> {
  const bytes = createReadStream(path)
  const input = path.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  let at = 0
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    at += 1
    if (line.trim() === '') continue
    const row = rowOfExport(line)
    if (!row) throw new Error(`Line ${at} of ${path} is no event.`)
    const document = readSealed(row.body)
    const checkpoint = document && checkpointIn(document)
    if (checkpoint) onCheckpoint?.(checkpoint)
    yield row
  }
}
