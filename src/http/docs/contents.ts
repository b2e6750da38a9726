import type { EndpointFamily, Route } from '../route.ts'
import { escape, inline } from './html.ts'
import type { PageGroup } from './pages.ts'

/** Endpoints under one heading of the reference. */
export type OperationGroup = { readonly id: string; readonly title: string; readonly routes: readonly Route[] }

/** A family with more endpoints is divided by the resource in their paths. */
const maxInGroup = 9

/** The endpoints in the order of the reference. Those of the service itself come last. */
export function operationGroups(families: readonly EndpointFamily[]): readonly OperationGroup[] {
  const groups = families.filter(({ routes }) => routes.length > 0).flatMap(groupsOf)
  return [...groups.filter(({ title }) => title !== 'Service'), ...groups.filter(({ title }) => title === 'Service')]
}

function groupsOf({ name, prefixes, routes }: EndpointFamily): OperationGroup[] {
  if (routes.length <= maxInGroup) return [{ id: idOf(name), title: name, routes }]
  const resources = Map.groupBy(routes, ({ path }) => resourceOf(path, prefixes))
  return [...resources].map(([resource, own]) => {
    const title = `${name}: ${resource.replaceAll('_', ' ')}`
    return { id: idOf(title), title, routes: own }
  })
}

/** `policies` of `/v1/organization/policies/{policy_id}/publish`. */
function resourceOf(path: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((each) => path.startsWith(each)) ?? ''
  return (
    path
      .slice(prefix.length)
      .split('/')
      .find((part) => part !== '' && !part.startsWith('{')) ?? ''
  )
}

const idOf = (title: string): string => title.toLowerCase().replaceAll(/[^a-z]+/g, '-')

/** The contents of all pages. `current` is the address of the page that shows them. */
export function contents(operations: readonly OperationGroup[], pages: readonly PageGroup[], current: string): string {
  const isReference = current === '/docs'
  const endpointLinks = operations.map(({ id, title, routes }) => {
    const links = routes.map(
      ({ name, method, summary }) =>
        `<li><a href="/docs#${name}"><span>${inline(summary)}</span><span class="verb verb-${method.toLowerCase()}">${method}</span></a></li>`,
    )
    return `<details${isReference ? ' open' : ''}><summary><a href="/docs#${id}">${escape(title)}</a></summary><ul>${links.join('')}</ul></details>`
  })
  const pageLinks = pages.map(({ title, pages: own }) => {
    const links = own.map((page) => {
      const mark = page.url === current ? ' aria-current="page"' : ''
      return `<li><a href="${page.url}"${mark}><span>${inline(page.title)}</span></a></li>`
    })
    return [title, `<h2>${escape(title)}</h2><ul>${links.join('')}</ul>`] as const
  })
  const [first, ...others] = pageLinks
  const overview = `<ul><li><a href="/docs#top"${isReference ? ' aria-current="page"' : ''}><span>Overview</span></a></li></ul>`
  return [
    overview,
    first?.[1] ?? '',
    `<h2>Endpoints</h2>${endpointLinks.join('')}`,
    ...others.map(([, html]) => html),
  ].join('')
}
