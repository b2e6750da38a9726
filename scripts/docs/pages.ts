import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** A page of the documentation: a Markdown file in `docs`, and where it is served. */
export type DocsPage = {
  /** The name in its address. */
  readonly name: string
  /** Relative to the folder `docs`. */
  readonly file: string
  readonly url: string
  /** Its first heading. */
  readonly title: string
  readonly markdown: string
}

export type PageGroup = { readonly title: string; readonly pages: readonly DocsPage[] }

/** Relative to this module, because the working directory may be anywhere. */
const folder = new URL('../../docs/', import.meta.url)

/** The order of the pages. Guides that are not named here follow at the end. */
const order: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Start', ['ten-minutes']],
  ['API', ['authentication', 'keys', 'jwt', 'streaming', 'errors', 'pagination', 'safe-retries', 'headers']],
  [
    'Use it',
    [
      'openai-sdk',
      'embeddings',
      'anthropic-sdk',
      'claude-code',
      'codex',
      'vercel-ai-sdk',
      'langchain',
      'python-frameworks',
    ],
  ],
  [
    'Set rules',
    [
      'moderation',
      'moderation-model-card',
      'prompt-injection',
      'policies',
      'rules',
      'cases',
      'exceptions',
      'judges',
      'explain',
      'appeals',
      'policy-gateway',
      'backtest',
      'limits-and-credits',
      'costs',
      'budgets',
      'conformance',
    ],
  ],
  [
    'Run it',
    [
      'console',
      'commands',
      'configuration',
      'your-own-model',
      'deploy',
      'operating',
      'scale-out',
      'kubernetes',
      'security-model',
      'observe',
      'traces',
      'as-code',
      'secrets',
      'audit-log',
      'exports',
      'alerts',
      'archive',
      'backup',
      'upgrade',
      'outages',
    ],
  ],
]

/** Pages outside of `docs/guide` and `docs/api` that are served too. */
const single = ['errors.md', 'commands.md', 'configuration.md', 'moderation-model-card.md', 'conformance.md']

/** Reads every page that is served, in groups. */
export function readPages(): readonly PageGroup[] {
  const inFolder = (name: string): string[] =>
    readdirSync(new URL(`${name}/`, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${name}/${file}`)
  const pages = [...inFolder('api'), ...inFolder('guide'), ...single].map(readPage)
  const named = new Set(order.flatMap(([, names]) => names))
  const rest = pages.filter(({ name }) => !named.has(name))
  const groups = order.map(([title, names]) => ({
    title,
    pages: names.flatMap((name) => pages.filter((page) => page.name === name)),
  }))
  return [...groups, { title: 'More', pages: rest }].filter((group) => group.pages.length > 0)
}

function readPage(file: string): DocsPage {
  const markdown = readFileSync(new URL(file, folder), 'utf8')
  const name = basename(file, '.md')
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name
  return { name, file, title, markdown, url: name === 'errors' ? '/docs/errors' : `/docs/guide/${name}` }
}
