import { plain } from './html.ts'
import type { OperationGroup } from './contents.ts'
import type { RenderedPage } from './markdown.ts'
import type { DocsPage } from './pages.ts'
import { fieldsIn } from './schema-fields.ts'
import { faultCodes } from '../../src/base/fault.ts'
import type { Route } from '../../src/http/route.ts'

/** `kind`, title, where it is, address, further words. Arrays instead of objects, because there are thousands. */
type Entry = readonly [kind: Kind, title: string, context: string, url: string, words: string]

type Kind = 'endpoint' | 'page' | 'error' | 'section' | 'field'

export type SearchSources = {
  readonly operations: readonly OperationGroup[]
  readonly pages: readonly { readonly page: DocsPage; readonly rendered: RenderedPage }[]
}

/** What the search in the browser looks through. */
export function searchIndex({ operations, pages }: SearchSources): readonly Entry[] {
  const routes = operations.flatMap((group) => group.routes)
  const codes = Object.entries(faultCodes).map(([code, sentence]): Entry => [
    'error',
    code,
    'Error code',
    `/docs/errors#${code}`,
    plain(sentence),
  ])
  return [...routes.map(endpoint), ...pages.flatMap(pageEntries), ...codes, ...routes.flatMap(fieldEntries)]
}

const endpoint = ({ name, method, path, summary, description = '', permission }: Route): Entry => [
  'endpoint',
  plain(summary),
  `${method} ${path}`,
  `/docs#${name}`,
  plain(`${name} ${permission ?? ''} ${description}`),
]

function pageEntries({ page, rendered }: SearchSources['pages'][number]): Entry[] {
  const [first, ...sections] = rendered.headings
  const intro = page.markdown.split('\n').slice(1).join(' ').slice(0, 400)
  return [
    ['page', plain(page.title), 'Guide', page.url, plain(intro)],
    ...sections
      .filter(({ id }) => id !== first?.id)
      .map(({ id, title }): Entry => ['section', title, plain(page.title), `${page.url}#${id}`, '']),
  ]
}

function fieldEntries(route: Route): Entry[] {
  const parts = [
    ['path', route.params],
    ['query', route.query],
    ['header', route.headers],
    ['body', route.body],
  ] as const
  const entries = parts.flatMap(([part, schema]) =>
    fieldsIn(schema).map(({ path, id, description }): Entry => [
      'field',
      path,
      `${route.summary}, ${part}`,
      `/docs#${route.name}.${part}.${id}`,
      plain(description).slice(0, 160),
    ]),
  )
  // Alternatives of a union share fields. The first one is enough.
  return [...new Map(entries.toReversed().map((entry) => [entry[1], entry])).values()].toReversed()
}
