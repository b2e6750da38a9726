import { serverUrl } from '../api/client.ts'
import { words } from '../words/en.ts'
import { buttonClass } from './button.tsx'
import { Icon } from './icon.tsx'
import { Menu, MenuItem, MenuLabel } from './menu.tsx'

type ExportProps = {
  /** Of the API, such as `/v1/organization/requests/export`. */
  readonly path: string
  /** The filters of the list that is shown. */
  readonly query: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
}

const text = words.common.exportAs

/** Saves what the list shows as a file. The browser reads it from the server, so that its size does not matter here. */
export function ExportMenu({ path, query }: ExportProps) {
  const save = (format: 'csv' | 'ndjson'): void => {
    const given = Object.entries<ExportProps['query'][string]>({ ...query, format }).flatMap(([name, value]) =>
      [value ?? []].flat().map((each) => [name, String(each)]),
    )
    const link = document.createElement('a')
    link.href = `${serverUrl}${path}?${new URLSearchParams(given).toString()}`
    link.download = ''
    link.click()
  }
  return (
    <Menu
      triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
      label={text.label}
      trigger={<Icon name="download" size={14} />}
    >
      <MenuLabel>{text.label}</MenuLabel>
      <MenuItem onClick={() => save('csv')}>{text.csv}</MenuItem>
      <MenuItem onClick={() => save('ndjson')}>{text.ndjson}</MenuItem>
    </Menu>
  )
}
