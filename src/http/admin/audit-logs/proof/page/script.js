// The script of a proof: verifies the events in the page, shows the verdict, and lists the events. `verify.js` stands before it in the
// same module. Every text of an event is set as text, never as markup.

const byId = (id) => document.getElementById(id)
const header = JSON.parse(byId('header').textContent)
const lines = byId('events')
  .textContent.split('\n')
  .filter((line) => line !== '')
const shownAtOnce = 200

const findings = {
  altered: 'was changed: it does not match its fingerprint.',
  missing: 'is missing.',
  misplaced: 'is at the position of another event.',
  unlinked: 'does not follow from the event before it: one of the two was replaced.',
  rewritten: 'is not the event that was signed: the log was rewritten.',
  cut: 'and all events after it are missing, although they were signed.',
}
const signatureFindings = {
  unknown_key: 'was signed with a key that is not trusted.',
  bad_signature: 'has a signature that is not valid.',
  unlinked: 'does not follow from the signature before it.',
}

function element(name, properties = {}, children = []) {
  const created = Object.assign(document.createElement(name), properties)
  created.append(...children)
  return created
}

const timeOf = (ms) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
const countOf = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

// The verdict

function showVerdict(tone, title, texts) {
  const verdict = byId('verdict')
  verdict.dataset.tone = tone
  verdict.replaceChildren(
    element('h2', { textContent: title }),
    ...texts.map((textContent) => element('p', { textContent })),
  )
  document.title = `${title} ${document.title.split(' · ').at(-1)}`
}

function describe({ events, finding, signatureFinding, signed, late }) {
  const [first, last] = [events[0]?.metadata.sequence, events.at(-1)?.metadata.sequence]
  if (finding) return ['bad', 'Not whole.', [`Event ${finding.sequence} ${findings[finding.reason]}`]]
  if (signatureFinding) {
    const { sequence, reason } = signatureFinding
    return ['bad', 'Not proven.', [`The signature of event ${sequence} ${signatureFindings[reason]}`]]
  }
  if (first === undefined) return ['open', 'Nothing to verify.', ['The file has no events.']]
  const range = `${countOf(events.length, 'event')}, ${first} to ${last}, linked without a gap.`
  if (!signed)
    return [
      'open',
      'Not signed yet.',
      [range, 'No event of this file was signed when it was saved. Events are signed each minute: save it again.'],
    ]
  if (late.length > 0) {
    const latest = late.at(-1)
    const text = `Events up to ${latest.to} were signed late, at ${timeOf(latest.time)}: nothing proves that they were not changed before.`
    return ['open', 'Signed late.', [range, text]]
  }
  const texts = [
    range,
    `Signed up to event ${signed.to} at ${timeOf(signed.time)}: none was changed, removed or added since.`,
  ]
  if (signed.to < last) texts.push(`Not signed yet when the file was saved: events ${signed.to + 1} to ${last}.`)
  return ['good', 'Whole and signed.', texts]
}

// The keys

/** A key that is typed is one of `gatehouse audit keys`: its id or its PEM. */
async function pinnedKeys(typed) {
  const ids = new Map()
  for (const pem of [...header.keys.map((key) => key.public_key), ...(typed.match(pemPattern) ?? [])]) {
    ids.set(await keyIdOf(pem), pem)
  }
  const named = typed.replaceAll(pemPattern, ' ').match(/[0-9a-f]{16}/g) ?? []
  const pinned = [...(typed.match(pemPattern) ?? [])]
  return [...pinned, ...named.flatMap((id) => ids.get(id) ?? [])]
}

const pemPattern = /-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----/g

let runs = 0
async function verify() {
  const run = (runs += 1)
  const typed = byId('pinned').value.trim()
  try {
    const publicKeys = typed === '' ? header.keys.map((key) => key.public_key) : await pinnedKeys(typed)
    const report = await verifyProof({ ...header, lines, publicKeys })
    if (run !== runs) return
    showVerdict(...describe(report))
    const ids = report.signed?.keyIds.join(', ')
    byId('key').textContent =
      ids === undefined
        ? ''
        : typed === ''
          ? `Signed with the key ${ids}, which is in this file. Anybody can sign with a key of their own: compare it with the key that you were given.`
          : `Signed with the key ${ids}, which the key that you entered proves.`
    listed = report.events
    showEvents()
  } catch (error) {
    if (run !== runs) return
    const isOld = error.name === 'NotSupportedError'
    showVerdict('open', 'Not verified.', [
      isOld
        ? 'This browser cannot verify Ed25519 signatures. Use a current one.'
        : `The file cannot be read: ${error.message}`,
    ])
  }
}

// The events

let listed = []
let shown = shownAtOnce

const isChange = ({ metadata }) =>
  !metadata.event_code.startsWith('gateway.request.') && metadata.event_code !== 'audit.checkpoint'

function showEvents() {
  const search = byId('search').value.trim().toLowerCase()
  const onlyChanges = byId('changes').checked
  const found = listed.filter(
    (event) =>
      (!onlyChanges || isChange(event)) && (search === '' || JSON.stringify(event).toLowerCase().includes(search)),
  )
  byId('rows').replaceChildren(...found.slice(0, shown).map(rowOf))
  byId('count').textContent = `${found.length.toLocaleString('en')} of ${countOf(listed.length, 'event')}`
  byId('more').hidden = found.length <= shown
}

function rowOf(event) {
  const details = element('details', {}, [
    element('summary', { textContent: event.message ?? event.metadata.event_code }),
  ])
  // Most are never opened, and the text of all would be as large as the file.
  details.addEventListener(
    'toggle',
    () => details.append(element('pre', { tabIndex: 0, textContent: JSON.stringify(event, null, 2) })),
    { once: true },
  )
  return element('tr', {}, [
    element('td', { textContent: event.metadata.sequence }),
    element('td', { textContent: timeOf(event.time) }),
    element('td', {}, [element('code', { textContent: event.metadata.event_code })]),
    element('td', {}, [details]),
  ])
}

byId('search').addEventListener('input', () => showEvents((shown = shownAtOnce)))
byId('changes').addEventListener('change', () => showEvents((shown = shownAtOnce)))
byId('more').addEventListener('click', () => showEvents((shown += shownAtOnce)))
byId('pinned').addEventListener('input', () => void verify())
byId('ui').hidden = false
void verify()
