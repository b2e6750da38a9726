import { readFileSync } from 'node:fs'
import { isRecord } from '../../base/record.ts'
import { startOfChain, type ChainPoint } from '../../domain/audit/chain/chain.ts'
import { pointOf, type SignedCheckpoint } from '../../domain/audit/chain/checkpoint.ts'
import { readChained, type ChainedEvent } from '../../domain/audit/chain/chained-event.ts'
import { isVerificationKey, type TrustedKeys } from '../../domain/audit/chain/trusted-keys.ts'
import { checkSignatures, type LogReport } from '../../domain/audit/verify-log.ts'
import { verifyChain } from '../../domain/audit/chain/verify.ts'
import { readExported } from './exported.ts'

/** Checkpoints of an organization, from elsewhere, in which one key hands over to another. */
export type HandoversOf = (organizationId: string) => Promise<readonly SignedCheckpoint[]>

/** Checks events that were exported as a log of its own. It needs nothing of the service but the public keys. */
export async function verifyFile(
  path: string,
  keys: TrustedKeys,
  handoversOf: HandoversOf = async () => [],
): Promise<LogReport> {
  const carried: SignedCheckpoint[] = []
  const first = await firstRow(path)
  const from = first ? placeBefore(first) : startOfChain('')
  const report = await verifyChain(
    rowsOf(path, (checkpoint) => carried.push(checkpoint)),
    { from },
  )
  const checkpoints = inOrder(carried)
  // Only checkpoints whose place is in the file can be held against it.
  const points = checkpoints.filter(({ sequence }) => sequence > from.sequence).map(pointOf)
  const again = report.finding ? report : await verifyChain(rowsOf(path), { from, checkpoints: points })
  const handovers = first ? await handoversOf(first.organizationId) : []
  const signatures = await checkSignatures(checkpoints, { keys, series: inOrder([...checkpoints, ...handovers]) })
  const tail = { from: Math.max(from.sequence, signatures.signed?.to ?? 0) + 1, to: again.end.sequence }
  // A file may end anywhere, so that nothing in it is overdue.
  const hasTail = again.finding === undefined && tail.to >= tail.from
  return {
    ...again,
    first: from.sequence + 1,
    ...signatures,
    ...(hasTail && { unsigned: { ...tail, isOverdue: false } }),
  }
}

/** Public keys in PEM from a file: as `audit keys` prints them, as the API lists them, or plain PEM. */
export function readPinnedKeys(path: string): string[] {
  const text = readKeyFile(path)
  const keys = (listedKeys(text) ?? [text]).flatMap((each) => each.match(pemBlocks) ?? [])
  if (keys.length === 0) throw new Error(`The file of --keys, ${path}, contains no public key. ${expectedKeys}`)
  const invalid = keys.findIndex((pem) => !isVerificationKey(pem))
  if (invalid === -1) return keys
  throw new Error(
    `Public key ${invalid + 1} in the file of --keys, ${path}, is not an Ed25519 key in PEM. ${expectedKeys}`,
  )
}

const expectedKeys =
  'It must contain public keys: the output of "gatehouse audit keys", with or without --json, or PEM.'

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = isRecord(error) ? String(error.code) : ''
    const reason = readErrors[code] ?? code
    throw new Error(`Cannot read the file of --keys, ${path}: ${reason}. ${expectedKeys}`, { cause: error })
  }
}

const readErrors: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

const pemBlocks = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

function listedKeys(text: string): string[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const list = isRecord(value) ? value.data : value
  return Array.isArray(list) ? list.map((key) => String(isRecord(key) ? key.public_key : '')) : []
}

/** Each once: an S3 sink writes a checkpoint twice, among the events and on its own. */
export function inOrder(checkpoints: readonly SignedCheckpoint[]): SignedCheckpoint[] {
  const unique = new Map(checkpoints.map((checkpoint) => [JSON.stringify(checkpoint), checkpoint]))
  return [...unique.values()].sort((one, other) => one.sequence - other.sequence)
}

async function firstRow(path: string): Promise<ChainedEvent | undefined> {
  for await (const row of rowsOf(path)) return row
  return undefined
}

/** A file may begin anywhere in the log: what its first event says of the one before is all there is to go by. */
function placeBefore({ chainUid, sequence, body }: ChainedEvent): ChainPoint {
  const previous = readChained(body)?.attestation_list[0].prev_event
  return { chainUid, sequence: sequence - 1, fingerprint: previous?.fingerprint.value ?? '' }
}

async function* rowsOf(
  path: string,
  onCheckpoint?: (checkpoint: SignedCheckpoint) => void,
): AsyncGenerator<ChainedEvent> {
  for await (const { row, checkpoint } of readExported(path)) {
    if (checkpoint) onCheckpoint?.(checkpoint)
    if (row) yield row
  }
}
