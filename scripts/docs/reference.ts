import { codeTabs } from './code.ts'
import type { OperationGroup } from './contents.ts'
import { escapeHtml } from '../../src/base/escape-html.ts'
import { baseUrlMark, partMark } from '../../src/http/docs/marks.ts'
import { anchorLink, inline } from './html.ts'
import type { PageGroup } from './pages.ts'
import { firstRequests } from './snippets.ts'

/** The first page: what the service is, the first request, the guides, then every endpoint, each as a mark of its part. */
export function reference(operations: readonly OperationGroup[], pages: readonly PageGroup[]): string {
  return overview(pages) + operations.map(group).join('')
}

function overview(pages: readonly PageGroup[]): string {
  return `<section class="overview">
<div class="about">
<h1>Gatehouse API</h1>
<p class="lead">One gateway in front of your language models. Applications keep the OpenAI or Anthropic SDK that they use; Gatehouse authenticates them, enforces limits, credits and policies, and writes the audit log.</p>
<dl class="facts">
<div><dt>Base URL</dt><dd><code class="copyable">${baseUrlMark}</code></dd></div>
<div><dt>Credential</dt><dd><code>Authorization: Bearer …</code> with a project API key (<code>ak_…</code>) for inference, an administrator key (<code>adm_…</code>) for administration. <a href="/docs/guide/authentication">Authentication</a></dd></div>
<div><dt>Description</dt><dd><a href="/openapi.json">openapi.json</a>, for client generators</dd></div>
</dl>
</div>
<div class="example">${codeTabs('first-request', firstRequests)}</div>
<div class="cards">${pages.map(card).join('')}</div>
</section>`
}

const card = ({ title, pages }: PageGroup): string =>
  `<section><h2>${escapeHtml(title)}</h2><ul>${pages.map((each) => `<li><a href="${each.url}">${inline(each.title)}</a></li>`).join('')}</ul></section>`

const group = ({ id, title, description, family, routes }: OperationGroup): string =>
  `<section class="group" id="${id}"><h2>${family === undefined ? '' : `<span class="family">${escapeHtml(family)}</span> `}${escapeHtml(title)} ${anchorLink(id, title)}</h2>${description === undefined ? '' : `<p class="lead">${inline(description)}</p>`}${routes.map(({ name }) => partMark(name)).join('')}</section>`
