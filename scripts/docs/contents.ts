import { describedFamilies, type EndpointFamily, type Route } from '../../src/http/route.ts'
import { escapeHtml } from '../../src/base/escape-html.ts'
import { inline } from './html.ts'
import type { PageGroup } from './pages.ts'

/** Endpoints under one heading of the reference. */
export type OperationGroup = {
  readonly id: string
  readonly title: string
  readonly description?: string
  /** The family, if it is divided into several groups. */
  readonly family?: string
  readonly routes: readonly Route[]
}

/** A family with more endpoints is divided by the resource in their paths. */
const maxInGroup = 9

/** The endpoints in the order of the reference: the service itself after other families, then the divided ones. */
export function operationGroups(families: readonly EndpointFamily[]): readonly OperationGroup[] {
  const groups = describedFamilies(families).flatMap(groupsOf)
  const rankOf = ({ family, title }: OperationGroup): number => (family !== undefined ? 2 : title === 'Service' ? 1 : 0)
  return groups.toSorted((left, right) => rankOf(left) - rankOf(right))
}

function groupsOf({ name, description, prefixes, routes }: EndpointFamily): OperationGroup[] {
  if (routes.length <= maxInGroup) return [{ id: idOf(name), title: name, description, routes }]
  const resources = Map.groupBy(routes, ({ path }) => resourceOf(path, prefixes))
  return [...resources].map(([resource, own]) => ({
    id: idOf(`${name} ${resource}`),
    title: titleOf(resource),
    family: name,
    routes: own,
  }))
}

/** `policies` of `/v1/organization/policies/{policy_id}/publish`; keys of a project are a resource of their own. */
function resourceOf(path: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((each) => path.startsWith(each)) ?? ''
  const parts = path
    .slice(prefix.length)
    .split('/')
    .filter((part) => part !== '' && !part.startsWith('{'))
  return parts.find((part) => part.endsWith('_keys')) ?? parts[0] ?? prefix.split('/').at(-1) ?? ''
}

/** `admin_api_keys` as `Admin API keys`. */
function titleOf(resource: string): string {
  const words = resource.replaceAll('_', ' ').replaceAll(/\bapi\b/g, 'API')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const idOf = (title: string): string => title.toLowerCase().replaceAll(/[^a-z]+/g, '-')

/** The links to the endpoints of a port. They are unfolded in the reference. */
export const endpointLinks = (operations: readonly OperationGroup[], isOpen: boolean): string =>
  [...Map.groupBy(operations, ({ family }) => family)]
    .map(
      ([family = 'Endpoints', groups]) =>
        `<h2>${escapeHtml(family)}</h2>${groups.map((group) => groupLinks(group, isOpen)).join('')}`,
    )
    .join('')

/** The contents of all pages, with the links to the endpoints. `current` is the address of the page that shows them. */
export function contents(pages: readonly PageGroup[], current: string, endpoints: string): string {
  const isReference = current === '/docs'
  const pageLinks = pages.map(({ title, pages: own }) => {
    const links = own.map((page) => {
      const mark = page.url === current ? ' aria-current="page"' : ''
      return `<li><a href="${page.url}"${mark}><span>${inline(page.title)}</span></a></li>`
    })
    return [title, `<h2>${escapeHtml(title)}</h2><ul>${links.join('')}</ul>`] as const
  })
  const [first, ...others] = pageLinks
  const overview = `<ul><li><a href="/docs#top"${isReference ? ' aria-current="page"' : ''}><span>Overview</span></a></li></ul>`
  return [overview, first?.[1] ?? '', endpoints, ...others.map(([, html]) => html)].join('')
}

function groupLinks({ id, title, routes }: OperationGroup, isOpen: boolean): string {
  const links = routes.map(
    ({ name, method, summary }) =>
      `<li><a href="/docs#${name}"><span>${inline(summary)}</span><span class="verb verb-${method.toLowerCase()}">${method}</span></a></li>`,
  )
  return `<details${isOpen ? ' open' : ''}><summary><a href="/docs#${id}">${escapeHtml(title)}</a></summary><ul>${links.join('')}</ul></details>`
}
