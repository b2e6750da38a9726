// The script of the documentation: search, copy buttons, and one language for all examples. Without it every page can still be read.

const byTag = (parent, selector) => parent.querySelector(selector)
const toast = byTag(document, '.toast')
const contents = byTag(document, '.contents')

// Copying

async function copy(text, confirmation) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Browsers offer the clipboard only on secure origins. Over plain HTTP the old command still works.
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    // oxlint-disable-next-line typescript/no-deprecated -- there is no other way without a secure origin
    document.execCommand('copy')
    area.remove()
  }
  announce(confirmation)
}

let hiding
function announce(text) {
  toast.textContent = text
  toast.hidden = false
  clearTimeout(hiding)
  hiding = setTimeout(() => (toast.hidden = true), 1500)
}

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    const shown = [...block.querySelectorAll('pre')].find((pre) => pre.offsetParent !== null)
    void copy(shown?.textContent ?? '', 'Copied')
  })
  byTag(block, 'figcaption, .tab-list').append(button)
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a')
  if (link?.classList.contains('anchor')) void copy(link.href, 'Link copied')
  // On narrow screens the contents cover the text that they lead to.
  if (link && contents.contains(link) && contents.matches(':popover-open')) contents.hidePopover()
})

// The chosen language applies to every example, and to the next visit.

const languageKey = 'gatehouse-docs-language'

function choose(language) {
  for (const input of document.querySelectorAll('.tab-list input')) {
    if (input.value === language) input.checked = true
  }
}

document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tab-list input')) return
  const before = target.getBoundingClientRect().top
  choose(target.value)
  scrollBy(0, target.getBoundingClientRect().top - before) // Examples above may have changed their height.
  try {
    localStorage.setItem(languageKey, target.value)
  } catch {
    // Storage may be turned off.
  }
})

try {
  choose(localStorage.getItem(languageKey))
} catch {
  // Storage may be turned off.
}

// The link of the section that is being read is marked in the contents.

const links = new Map(
  [...contents.querySelectorAll('details a')].map((link) => [new URL(link.href).hash.slice(1), link]),
)
const sections = [...document.querySelectorAll('.operation')]
let current

function markCurrent() {
  const line = innerHeight / 3
  const shown = sections.findLast((section) => section.getBoundingClientRect().top < line)
  const link = links.get(shown?.id)
  if (link === current) return
  current?.removeAttribute('aria-current')
  current = link
  byTag(contents, 'a[href="/docs#top"]').toggleAttribute('aria-current', link === undefined)
  link?.setAttribute('aria-current', 'location')
  const { top = 0, bottom = 0 } = link?.getBoundingClientRect() ?? {}
  const frame = contents.getBoundingClientRect()
  if (link && (top < frame.top || bottom > frame.bottom)) contents.scrollTop += top - frame.top - frame.height / 3
}

if (sections.length > 0) {
  let isQueued = false
  const queue = () => {
    if (isQueued) return
    isQueued = true
    requestAnimationFrame(() => {
      isQueued = false
      markCurrent()
    })
  }
  addEventListener('scroll', queue, { passive: true })
  queue()
} else {
  byTag(contents, '[aria-current]')?.scrollIntoView({ block: 'center' })
}

// Search

const dialog = byTag(document, 'dialog.search')
const input = byTag(dialog, 'input')
const results = byTag(dialog, '#results')
const hint = byTag(dialog, '.search-hint')
const maxResults = 30
const kindWeights = { endpoint: 40, page: 30, error: 25, section: 15, field: 0 }
let index

async function openSearch() {
  if (!dialog.open) dialog.showModal()
  input.select()
  hint.textContent = 'Type a word, a path such as /v1/messages, a field or an error code.'
  index ??= fetch('/docs/assets/search.json').then((response) => response.json())
  try {
    await index
    await show()
  } catch {
    index = undefined
    hint.textContent = 'The search index could not be loaded. Check the connection and try again.'
  }
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean)

/** Zero if a word is missing. The title counts most, then what it begins with. */
function score([kind, title, context, , words], wanted) {
  const inTitle = title.toLowerCase()
  const everywhere = `${inTitle} ${context} ${words}`.toLowerCase()
  let total = 0
  for (const word of wanted) {
    if (!everywhere.includes(word)) return 0
    const lastPart = inTitle.slice(inTitle.lastIndexOf('.') + 1)
    if (inTitle === word) total += 100
    else if (lastPart === word) total += 70
    else if (inTitle.startsWith(word)) total += 50
    else if (inTitle.includes(word)) total += 30
    else if (context.toLowerCase().includes(word)) total += 20
    else total += 5
  }
  return total + kindWeights[kind]
}

async function show() {
  const wanted = wordsOf(input.value)
  const entries = await index
  const found = entries
    .map((entry) => ({ entry, points: wanted.length === 0 ? 0 : score(entry, wanted) }))
    .filter(({ points }) => points > 0)
    .sort((left, right) => right.points - left.points)
  results.replaceChildren(...found.slice(0, maxResults).map(({ entry }, at) => resultItem(entry, wanted, at)))
  select(0)
  if (wanted.length === 0) hint.textContent = 'Type a word, a path such as /v1/messages, a field or an error code.'
  else if (found.length === 0) hint.textContent = `Nothing found for “${input.value.trim()}”.`
  else hint.textContent = found.length > maxResults ? `${maxResults} of ${found.length} results` : ''
}

function resultItem([kind, title, context, url], wanted, at) {
  const item = document.createElement('li')
  item.id = `result-${at}`
  item.setAttribute('role', 'option')
  const link = document.createElement('a')
  link.href = url
  link.tabIndex = -1
  const name = document.createElement('span')
  name.append(...marked(title, wanted))
  const label = document.createElement('small')
  label.className = 'kind'
  label.textContent = kind === 'section' ? 'guide' : kind
  const where = document.createElement('small')
  where.textContent = context
  link.append(name, label, where)
  item.append(link)
  return item
}

/** The text with the wanted words marked. */
function marked(text, wanted) {
  const pattern = wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  return text.split(new RegExp(`(${pattern})`, 'gi')).map((part, at) => {
    if (at % 2 === 0) return part
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

let selected = 0
function select(at) {
  const items = [...results.children]
  selected = Math.max(0, Math.min(at, items.length - 1))
  for (const [position, item] of items.entries()) item.setAttribute('aria-selected', String(position === selected))
  input.setAttribute('aria-activedescendant', items[selected]?.id ?? '')
  items[selected]?.scrollIntoView({ block: 'nearest' })
}

input.addEventListener('input', () => void show())
input.addEventListener('keydown', (event) => {
  const moves = { ArrowDown: 1, ArrowUp: -1 }
  if (event.key in moves) select(selected + moves[event.key])
  else if (event.key === 'Enter') results.children[selected]?.firstChild.click()
  else return
  event.preventDefault()
})
dialog.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('#results a')) dialog.close()
})

const button = byTag(document, '.search-button')
button.hidden = false
button.addEventListener('click', () => void openSearch())
addEventListener('keydown', (event) => {
  const isTyping = event.target.matches?.('input[type=search], textarea')
  const isShortcut = (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyping)
  if (!isShortcut) return
  event.preventDefault()
  void openSearch()
})
