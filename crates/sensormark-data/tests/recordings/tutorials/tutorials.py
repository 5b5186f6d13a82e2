# Expected figures of the data sets that tutorials use, by pandas: python tutorials.py FOLDER > tutorials.tsv
import sys, pandas as pd
folder = sys.argv[1] + '/'
def case(file, frame, time, **names):
    t = pd.Series(time).astype('datetime64[ns, UTC]')
    cells = [file, str(len(frame)), str(t.min().value), str(t.max().value)]
    for name, column in names.items():
        v = pd.to_numeric(frame[column], errors='coerce').dropna()
        cells.append(f'{name}:{len(v)}:{float(v.sum())!r}:{float(v.min())!r}:{float(v.max())!r}')
    print('\t'.join(cells))
f = pd.read_csv(folder + 'household_power_consumption.txt', sep=';', na_values='?').dropna()
case('household_power_consumption.txt', f, pd.to_datetime(f.Date + ' ' + f.Time, format='%d/%m/%Y %H:%M:%S', utc=True), **{c.lower(): c for c in f.columns[2:]})
f = pd.read_csv(folder + 'AirQualityUCI.csv', sep=';', decimal=',').dropna(how='all')
case('AirQualityUCI.csv', f, pd.to_datetime(f.Date + ' ' + f.Time, format='%d/%m/%Y %H.%M.%S', utc=True), co_gt='CO(GT)', pt08_s1_co='PT08.S1(CO)', nmhc_gt='NMHC(GT)', c6_h6_gt='C6H6(GT)', t='T', rh='RH', ah='AH')
f = pd.read_csv(folder + 'intel_lab_data.txt', sep=' ', header=None).dropna()
case('intel_lab_data.txt', f, pd.to_datetime(f[0] + ' ' + f[1], utc=True), column_3=2, column_5=4, column_6=5, column_7=6, column_8=7)
f = pd.read_csv(folder + 'PRSA_data_2010.1.1-2014.12.31.csv')
case('PRSA_data_2010.1.1-2014.12.31.csv', f, pd.to_datetime(f[['year', 'month', 'day', 'hour']], utc=True), pm2_5='pm2.5', dewp='DEWP', temp='TEMP', pres='PRES', iws='Iws')
f = pd.read_csv(folder + 'history.csv', na_values=['unavailable', 'unknown']).dropna()
case('history.csv', f, pd.to_datetime(f.last_changed, utc=True), state='state')
