import { serverUrl } from '../api/client.ts'
import { words } from '../words/en.ts'
import { buttonClass } from './button.tsx'
import { Icon } from './icon.tsx'
import { Menu, MenuItem, MenuLabel } from './menu.tsx'

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

type ExportProps = {
  /** Of the API, such as `/v1/organization/requests/export`. */
  readonly path: string
  /** The filters of the list that is shown. */
  readonly query: Query
  /** Another file that the page offers. */
  readonly other?: { readonly name: string; readonly path: string; readonly query: Query }
}

const text = words.common.exportAs

/** Saves what the list shows as a file. */
export function ExportMenu({ path, query, other }: ExportProps) {
  return (
    <Menu
      triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
      label={text.label}
      trigger={<Icon name="download" size={14} />}
    >
      <MenuLabel>{text.label}</MenuLabel>
      <MenuItem onClick={() => save(path, { ...query, format: 'csv' })}>{text.csv}</MenuItem>
      <MenuItem onClick={() => save(path, { ...query, format: 'ndjson' })}>{text.ndjson}</MenuItem>
      {other && <MenuItem onClick={() => save(other.path, other.query)}>{other.name}</MenuItem>}
    </Menu>
  )
}

/** The browser reads the file from the server, so that its size does not matter here. */
export function save(path: string, query: Query): void {
  const given = Object.entries<Query[string]>(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => [name, String(each)]),
  )
  const link = document.createElement('a')
  link.href = `${serverUrl}${path}?${new URLSearchParams(given).toString()}`
  link.download = ''
  link.click()
}
