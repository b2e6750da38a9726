/** An endpoint as the reference shows it. */
export type ShownOperation = {
  readonly name: string
  readonly title: string
  readonly route: string
  readonly html: string
  /** By the name of the tab: `curl`, `Node`, `Python`. */
  readonly snippets: Readonly<Record<string, string>>
  /** The example answer; undefined if the page shows none. */
  readonly answer: string | undefined
  /** The status in the title of the example answer; undefined if the page shows no answer. */
  readonly status: number | undefined
}

/** Reads the endpoints from the HTML of `/docs`. */
export function operationsIn(page: string): ShownOperation[] {
  return [...page.matchAll(/<section class="operation" id="(\w+)".*?<\/section>/gs)].map(([html, name = '']) => {
    const labels = [...html.matchAll(/<label for="[^"]*">(\w+)<\/label>/g)].map(([, label = '']) => label)
    const panels = [...html.matchAll(/<div class="panel"><pre[^>]*><code>(.*?)<\/code>/gs)].map(([, code = '']) => code)
    const [, status, answer] = /<figcaption>Answer (\d+)<\/figcaption><pre[^>]*><code>(.*?)<\/code>/s.exec(html) ?? []
    return {
      name,
      title: textOf(/<h3[^>]*>(.*?) <a/s.exec(html)?.[1] ?? ''),
      route: textOf(/<p class="route">(.*?)<\/p>/s.exec(html)?.[1] ?? ''),
      html,
      snippets: Object.fromEntries(labels.map((label, index) => [label, textOf(panels[index] ?? '')])),
      answer: answer === undefined ? undefined : textOf(answer),
      status: status === undefined ? undefined : Number(status),
    }
  })
}

/** The text that a reader sees. */
export const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
