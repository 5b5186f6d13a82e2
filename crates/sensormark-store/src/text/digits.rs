//! Decimal digits of whole numbers, several at a time: by table under 1,000, by arithmetic under 10^8. It writes nothing.

/// The digit 0 in each byte.
pub(super) const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// Numbers under 1,000: their digits, and how many there are.
pub(super) static DIGITS: [[u8; 4]; 1_000] = groups(false);
/// The same with leading zeros.
pub(super) static PADDED: [[u8; 4]; 1_000] = groups(true);

const fn groups(is_padded: bool) -> [[u8; 4]; 1_000] {
    let mut groups = [[0; 4]; 1_000];
    let mut value = 0;
    while value < 1_000 {
        let [.., hundreds, tens, ones] = (eight_digits(value) | ASCII_ZEROS).to_le_bytes();
        groups[value as usize] = match value {
            0..10 if !is_padded => [ones, 0, 0, 1],
            10..100 if !is_padded => [tens, ones, 0, 2],
            _ => [hundreds, tens, ones, 3],
        };
        value += 1;
    }
    groups
}

/// A number's group of digits.
#[inline]
pub(super) fn group(groups: &[[u8; 4]; 1_000], value: u32) -> [u8; 4] {
    groups[value as usize]
}

/// What eight digits can count.
pub(super) const BASE: u32 = 100_000_000;

/// The eight decimal digits of a number under 10^8, one a byte, the first in the lowest. Halves, quarters and eighths are split side by side in one word. It
/// multiplies by reciprocals that are exact in their range.
#[inline]
pub(super) const fn eight_digits(value: u32) -> u64 {
    let halves = (value / 10_000) as u64 | (((value % 10_000) as u64) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = hundreds | ((halves - 100 * hundreds) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((quarters - 10 * tens) << 8)
}
