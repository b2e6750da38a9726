import { AttentionBell } from './attention-bell.tsx'
import { PreferencesMenu } from './menus.tsx'
import { RangeMenu } from './range-menu.tsx'

export { AccountMenu } from './menus.tsx'

/** The menus of the top bar. */
export const TopMenus = () => (
  <>
    <RangeMenu />
    <AttentionBell />
    <PreferencesMenu />
  </>
)
