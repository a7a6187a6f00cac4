/** The CUSTOM event that carries a `UI_RENDER_HINT` of the 0.1.0 dialect. */
export const UI_RENDER_HINT_NAME = "countersign.ui_render_hint";

/** The CUSTOM event that carries an event envelope without a native form. */
export const ENVELOPE_NAME = "countersign.envelope";

/** The member of `metadata` under which a translation keeps what 1.0 has no field for. */
export const VENDOR_KEY = "countersign";
