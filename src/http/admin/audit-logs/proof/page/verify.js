// Verifies a proof of the audit log without a server: `script.js` runs it in the page, and the tests run it in Node. It shares no code
// with the server on purpose, so that a fault of one is found by the other.

const utf8 = new TextEncoder()
const hexOf = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
const sha256 = async (bytes) => hexOf(await crypto.subtle.digest('SHA-256', bytes))
const bytesOf = (base64) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))

/** Canonical JSON (RFC 8785). */
export function canonical(value) {
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('lone surrogate')
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${canonical(name)}:${canonical(member)}`).join(',')}}`
}

/**
 * Verifies the events on these lines. `publicKeys` are trusted, in PEM. `checkpoints` sign the end of the chain, beside those that
 * the events carry; `handovers` are checkpoints in which one key replaces another.
 */
export async function verifyProof({ lines, publicKeys, checkpoints = [], handovers = [] }) {
  const { events, finding } = await linkedEvents(lines)
  const carried = events.map(({ document }) => document.unmapped.gatehouse.checkpoint).filter(isCheckpoint)
  const series = inOrder([...carried, ...checkpoints.filter(isCheckpoint)])
  const report = { events: events.map(({ document }) => document), late: [] }
  const broken = finding ?? contradiction(events, series)
  if (broken) return { ...report, finding: broken }
  const keys = await keysOf(publicKeys)
  const keyAt = await handedOver(inOrder([...series, ...handovers.filter(isCheckpoint)]), keys)
  const first = events[0]?.sequence ?? 1
  let signed
  for (const [at, checkpoint] of series.entries()) {
    const reason = (await signatureProblem(checkpoint, keyAt)) ?? (await linkProblem(checkpoint, series[at - 1]))
    if (reason) return { ...report, signed, signatureFinding: { sequence: checkpoint.sequence, reason } }
    if (checkpoint.sequence < first) continue
    if (checkpoint.late) report.late.push({ to: checkpoint.sequence, time: checkpoint.time })
    const keyIds = [...new Set([...(signed?.keyIds ?? []), checkpoint.key_id])]
    signed = { to: checkpoint.sequence, time: checkpoint.time, keyIds }
  }
  return { ...report, signed }
}

/** The id of a public key: the first 16 hex digits of its digest. */
export async function keyIdOf(pem) {
  return (await sha256(derOf(pem))).slice(0, 16)
}

// Events

/** The events up to the first that was altered, removed or moved. */
async function linkedEvents(lines) {
  const events = []
  for (const line of lines) {
    const before = events.at(-1)
    const document = read(line)
    const sequence = (before?.sequence ?? document?.metadata.sequence - 1) + 1
    const reason = document ? await problemOf(document, before) : 'altered'
    if (reason) return { events, finding: { sequence: Number.isNaN(sequence) ? 1 : sequence, reason } }
    const [{ chain_uid: chain, fingerprint }] = document.attestation_list
    events.push({ sequence, chain, fingerprint: fingerprint.value, document })
  }
  return { events }
}

/** Undefined if the line has no event. */
function read(line) {
  try {
    const document = JSON.parse(line)
    const [{ chain_uid: chain, fingerprint }] = document.attestation_list
    const isEvent =
      document.attestation_list.length === 1 &&
      typeof chain === 'string' &&
      typeof fingerprint.value === 'string' &&
      Number.isSafeInteger(document.metadata.sequence) &&
      typeof document.unmapped.gatehouse === 'object'
    return isEvent ? document : undefined
  } catch {
    return undefined
  }
}

async function problemOf(document, before) {
  const [attestation] = document.attestation_list
  const { fingerprint, ...rest } = attestation
  if ((await fingerprintOf({ ...document, attestation_list: [rest] })) !== canonical(fingerprint)) return 'altered'
  if (!before) return undefined
  const { sequence } = document.metadata
  if (sequence > before.sequence + 1) return 'missing'
  if (sequence <= before.sequence) return 'misplaced'
  const isLinked =
    attestation.chain_uid === before.chain && attestation.prev_event?.fingerprint.value === before.fingerprint
  return isLinked ? undefined : 'unlinked'
}

/** Undefined for a value that has no canonical JSON. */
async function fingerprintOf(unsigned) {
  try {
    const value = await sha256(utf8.encode(canonical(unsigned)))
    return canonical({ algorithm: 'SHA-256', algorithm_id: 3, value })
  } catch {
    return undefined
  }
}

/** The first event that is not the one that a checkpoint was signed for. */
function contradiction(events, series) {
  const first = events[0]?.sequence ?? 1
  for (const { chain_uid: chain, sequence, fingerprint } of series) {
    if (sequence < first) continue
    const event = events[sequence - first]
    if (!event) return { sequence: first + events.length, reason: 'cut' }
    if (event.chain !== chain || event.fingerprint !== fingerprint) return { sequence, reason: 'rewritten' }
  }
  return undefined
}

// Checkpoints

const isCheckpoint = (value) =>
  typeof value === 'object' &&
  value !== null &&
  ['chain_uid', 'fingerprint', 'key_id', 'signature'].every((name) => typeof value[name] === 'string') &&
  ['sequence', 'count', 'time'].every((name) => Number.isSafeInteger(value[name]))

const inOrder = (checkpoints) =>
  [...new Map(checkpoints.map((checkpoint) => [canonical(checkpoint), checkpoint])).values()].sort(
    (one, other) => one.sequence - other.sequence,
  )

async function signatureProblem({ signature, ...checkpoint }, keyAt) {
  const key = keyAt(checkpoint.key_id, checkpoint.sequence)
  if (!key) return 'unknown_key'
  const isValid = await isSigned(key, signature, `gatehouse audit checkpoint 1\n${canonical(checkpoint)}`)
  return isValid ? undefined : 'bad_signature'
}

async function linkProblem(checkpoint, before) {
  if (!before) return undefined
  const isLinked =
    checkpoint.previous === (await sha256(utf8.encode(canonical(before)))) &&
    checkpoint.chain_uid === before.chain_uid &&
    checkpoint.count === checkpoint.sequence - before.sequence
  return isLinked ? undefined : 'unlinked'
}

/** The key with an id, if it is trusted for a checkpoint at a sequence. A trusted key vouches for the one before and the one after it. */
async function handedOver(series, trusted) {
  const known = new Map([...trusted].map(([id, key]) => [id, { key, from: 0, before: Infinity }]))
  const keyAt = (id, sequence) => {
    const range = known.get(id)
    return range && sequence >= range.from && sequence < range.before ? range.key : undefined
  }
  const handovers = []
  for (const checkpoint of series) {
    const keys = checkpoint.handover && (await keysOf([checkpoint.handover.from_key, checkpoint.handover.to_key]))
    if (keys?.size === 2) handovers.push({ checkpoint, from: [...keys][0], to: [...keys][1] })
  }
  for (const { checkpoint, from, to } of handovers) {
    const old = keyAt(from[0], checkpoint.sequence)
    if (!known.has(to[0]) && old && (await isHandedOverBy(old, checkpoint))) {
      known.set(to[0], { key: to[1], from: checkpoint.sequence, before: Infinity })
    }
  }
  for (const { checkpoint, from } of handovers.toReversed()) {
    if (!known.has(from[0]) && (await signatureProblem(checkpoint, keyAt)) === undefined) {
      known.set(from[0], { key: from[1], from: 0, before: checkpoint.sequence })
    }
  }
  return keyAt
}

function isHandedOverBy(key, { chain_uid: chain, handover: { signature, ...statement } }) {
  return isSigned(key, signature, `gatehouse audit key handover 1\n${canonical({ chain_uid: chain, ...statement })}`)
}

/** Public keys by id, without those that are not Ed25519. */
async function keysOf(pems) {
  const keys = new Map()
  for (const pem of pems) {
    try {
      keys.set(
        await keyIdOf(pem),
        await crypto.subtle.importKey('spki', derOf(pem), { name: 'Ed25519' }, true, ['verify']),
      )
    } catch (error) {
      // A browser without Ed25519 must not look like a forged key.
      if (error.name === 'NotSupportedError') throw error
    }
  }
  return keys
}

const derOf = (pem) => bytesOf(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''))

async function isSigned(key, signature, text) {
  try {
    return await crypto.subtle.verify({ name: 'Ed25519' }, key, bytesOf(signature), utf8.encode(text))
  } catch {
    return false
  }
}
